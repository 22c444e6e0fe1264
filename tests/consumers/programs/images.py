"""Pictures that are sharpened, made small and compressed, one after the other."""

import io

import numpy as np
from PIL import Image
from scipy import ndimage

rng = np.random.default_rng(0)
made = []
for number in range(12):
    picture = rng.random((1500, 2000, 3)).astype(np.float32)
    smooth = np.stack([ndimage.gaussian_filter(picture[..., colour], 2) for colour in range(3)], axis=-1)
    sharp = np.clip(smooth + 1.5 * (picture - smooth), 0, 1)
    small = Image.fromarray((sharp * 255).astype(np.uint8)).resize((500, 375))
    file = io.BytesIO()
    small.save(file, "JPEG")
    made.append(file.getvalue())
print(len(made), min(map(len, made)) > 1000)
