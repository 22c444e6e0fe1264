/** Small helps for drawing: colours, lines, steps of axes. */

const FONT = '12px system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "Liberation Sans", sans-serif';

/** Return the value of a colour of the style sheet, which depends on light and dark. */
function colourOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Return a colour such as #a1b2c3 as a word of ImageData: its bytes are red, green, blue, alpha. */
function wordOf(colour) {
  const bytes = [1, 3, 5].map((place) => Number.parseInt(colour.slice(place, place + 2), 16));
  return new Uint32Array(Uint8Array.of(...bytes, 255).buffer)[0];
}

/** Return a word of ImageData as CSS knows it. */
function cssOf(word) {
  return `rgb(${word & 255} ${(word >>> 8) & 255} ${(word >>> 16) & 255})`;
}

/** Return a word of ImageData that is a share of another. */
function mix(word, other, share) {
  let mixed = 0;
  for (const shift of [0, 8, 16, 24]) {
    const one = (word >>> shift) & 255;
    mixed |= Math.round(one + (((other >>> shift) & 255) - one) * share) << shift;
  }
  return mixed >>> 0;
}

/** Return the context of a canvas that is as fine as the screen, in CSS pixels and with no transform. */
function contextFor(canvas) {
  const width = Math.round(canvas.clientWidth * devicePixelRatio);
  const height = Math.round(canvas.clientHeight * devicePixelRatio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  return context;
}

function strokeLine(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

function drawTriangle(context, x, y, height, colour) {
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 4, y - height);
  context.lineTo(x + 4, y - height);
  context.fill();
}

/** Move a range into 0 to most, no narrower than least. */
function clamp(start, end, most, least) {
  const length = Math.min(Math.max(end - start, least), most);
  const middle = (start + end) / 2;
  const from = Math.min(Math.max(middle - length / 2, 0), most - length);
  return [from, from + length];
}

/** Return 1, 2 or 5 times a power of ten that is this or more. */
function stepOfTimes(nanoseconds) {
  const power = 10 ** Math.floor(Math.log10(nanoseconds));
  return [1, 2, 5, 10].find((digit) => digit * power >= nanoseconds * 0.9999) * power;
}

/** Return a time with as many digits as the step between times needs, in the unit that suits the latest. */
function timeOnAxis(nanoseconds, step, latest) {
  const [unit, size] = UNITS_OF_TIME.findLast(([, size]) => latest >= size) ?? UNITS_OF_TIME[0];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return nanoseconds === 0 ? "0" : `${(nanoseconds / size).toFixed(digits)} ${unit}`;
}

function lifeOf(snapshot, block) {
  const isAlive = snapshot.freed[block] === Infinity;
  const end = isAlive ? snapshot.duration : snapshot.freed[block];
  return formatTime(end - snapshot.allocated[block]) + (isAlive ? ", until the end" : "");
}
