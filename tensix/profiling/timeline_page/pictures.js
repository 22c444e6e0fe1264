/**
 * Pictures of the bands: made in the time that a frame of the screen leaves, kept, and stretched until there is a better one.
 *
 * While the view moves through a million events, an exact picture of it takes longer than a frame. So each frame shows
 * what there is already, moved and stretched to where it belongs: the picture of the whole, coarse when one is far in,
 * and the latest other one over it. The rest of the frame goes on with a picture of the view as it was when that was
 * begun. Of a small snapshot every frame is exact.
 */
const ROWS_COLOURED_AT_A_TIME = 16;

class Pictures {
  constructor(bands) {
    this.bands = bands;
    this.forget();
  }

  /** Begin again, after a change of size or order. */
  forget() {
    this.kept = []; // the whole first, and the latest part of it
    this.work = null; // a generator
    this.colouring = 0; // counts the changes of colours
  }

  /** Make pictures old whose pixels keep their blocks and change their colours. */
  recolour() {
    this.colouring += 1;
  }

  /** Go on until a deadline with what this view needs; return whether nothing is left to do. */
  advance(view, whole, columns, rows, paints, deadline) {
    do {
      this.work ??= this.#nextWork(view, whole, columns, rows, paints);
      if (!this.work) return true;
      if (this.work.next().done) this.work = null;
    } while (performance.now() < deadline);
    return false;
  }

  /** The exact picture of the view comes first, then the colours of others that may still be shown, then the whole. */
  #nextWork(view, whole, columns, rows, paints) {
    const pictureOf = (wanted) => this.kept.find((picture) => sameView(picture.view, wanted));
    const exact = pictureOf(view);
    if (!exact) return this.#make(view, whole, columns, rows, paints);
    const old = [exact, ...this.kept].find((picture) => picture.colouring !== this.colouring);
    if (old) return this.#colour(old, paints);
    return pictureOf(whole) ? null : this.#make(whole, whole, columns, rows, paints);
  }

  *#make(view, whole, columns, rows, paints) {
    const canvas = make("canvas", { width: columns, height: rows });
    const isWhole = sameView(view, whole);
    const picture = { view, columns, rows, owners: new Int32Array(columns * rows), canvas, isWhole };
    yield* this.bands.steps(view, columns, rows, picture.owners);
    yield* this.#colour(picture, paints);
    const others = this.kept.filter((other) => other.isWhole !== isWhole);
    this.kept = isWhole ? [picture, ...others] : [...others, picture];
  }

  /** Give pixels the colours of their groups, and bands that are thick enough a border. */
  *#colour(picture, paints) {
    const { owners, columns, rows, view, canvas } = picture;
    const { plain, pale, border, faint, faintBorder, rankOfBlock, isFaint, idleFrom, chosen, ink } = paints();
    const colouring = this.colouring;
    const context = canvas.getContext("2d");
    const timeOf = (column) => view.t0 + ((column + 0.5) * (view.t1 - view.t0)) / columns;
    for (let top = 0; top < rows; top += ROWS_COLOURED_AT_A_TIME) {
      const height = Math.min(ROWS_COLOURED_AT_A_TIME, rows - top);
      const image = new ImageData(columns, height);
      const colours = new Uint32Array(image.data.buffer);
      const first = top * columns;
      for (let pixel = first; pixel < first + height * columns; pixel++) {
        const block = owners[pixel];
        if (block < 0) continue; // see-through
        const isTop = owners[pixel - columns] !== block && owners[pixel + 2 * columns] === block;
        const isLeft = owners[pixel - 1] !== block && owners[pixel + 2] === block
          && owners[pixel - columns] === block && owners[pixel + columns] === block;
        const rank = rankOfBlock[block];
        const isEdge = isTop || isLeft;
        let colour;
        if (block === chosen && isOutline(owners, pixel, columns, block)) colour = ink;
        else if (isFaint(block)) colour = (isEdge ? faintBorder : faint)[rank];
        else if (isEdge) colour = border[rank];
        else {
          const isStripe = ((pixel % columns) + Math.floor(pixel / columns)) % 8 < 4;
          colour = (idleFrom && isStripe && timeOf(pixel % columns) > idleFrom[block] ? pale : plain)[rank];
        }
        colours[pixel - first] = colour;
      }
      context.putImageData(image, 0, top);
      yield;
    }
    picture.colouring = colouring;
  }

  /** Draw what there is into a context, stretched to a view of so many pixels: what is coarse below what is finer. */
  show(context, view, columns, rows) {
    context.clearRect(0, 0, columns, rows);
    context.imageSmoothingEnabled = false;
    for (const picture of this.kept) {
      const from = picture.view;
      if (from.t1 <= view.t0 || from.t0 >= view.t1 || from.y1 <= view.y0 || from.y0 >= view.y1) continue;
      const x = ((from.t0 - view.t0) / (view.t1 - view.t0)) * columns;
      const y = ((view.y1 - from.y1) / (view.y1 - view.y0)) * rows;
      const width = ((from.t1 - from.t0) / (view.t1 - view.t0)) * columns;
      const height = ((from.y1 - from.y0) / (view.y1 - view.y0)) * rows;
      // Only the part that is seen: a canvas stretched a million times over is beyond what a browser draws.
      const part = { x: Math.max(0, -x / width), y: Math.max(0, -y / height) };
      part.width = Math.min(1, (columns - x) / width) - part.x;
      part.height = Math.min(1, (rows - y) / height) - part.y;
      const place = [x + part.x * width, y + part.y * height, part.width * width, part.height * height];
      context.clearRect(...place);
      context.drawImage(picture.canvas, part.x * picture.columns, part.y * picture.rows,
        part.width * picture.columns, part.height * picture.rows, ...place);
    }
  }

  /** Return the block at a time and a size, -1 where there is none, from the finer picture that shows it. */
  blockAt(time, bytes) {
    for (const { view, columns, rows, owners } of [...this.kept].reverse()) {
      const column = Math.floor(((time - view.t0) / (view.t1 - view.t0)) * columns);
      const row = Math.floor(((view.y1 - bytes) / (view.y1 - view.y0)) * rows);
      if (column >= 0 && column < columns && row >= 0 && row < rows) return owners[row * columns + column];
    }
    return -1;
  }
}

function sameView(one, other) {
  return one.t0 === other.t0 && one.t1 === other.t1 && one.y0 === other.y0 && one.y1 === other.y1;
}

function isOutline(owners, pixel, columns, block) {
  const column = pixel % columns;
  return column === 0 || column === columns - 1 || owners[pixel - 1] !== block || owners[pixel + 1] !== block
    || owners[pixel - columns] !== block || owners[pixel + columns] !== block;
}
