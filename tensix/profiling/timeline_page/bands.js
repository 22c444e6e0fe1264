/**
 * Which block lies at which pixel: blocks are stacked in a fixed order, and fall when one below them is freed.
 *
 * A polygon for each block would have a corner for every free below it: quadratic. So no shape is made. A Fenwick
 * tree over the order holds the sizes of the blocks that are alive. Time is swept once from left to right; in each
 * column of pixels the tree is asked which block covers which height, and a band is skipped in one step. That costs
 * blocks + events * log(blocks) + pixels * log(blocks) at worst, whatever the blocks do.
 *
 * For a million events that is more than a frame of the screen allows. So it is done in steps of less than a
 * millisecond, between which others may have their turn: see Pictures.
 */
class Bands {
  constructor(snapshot) {
    this.snapshot = snapshot;
    this.place = new Uint32Array(snapshot.count); // of each block in the order
    this.tree = new Float64Array(snapshot.count + 1);
    this.firstStep = 2 ** Math.floor(Math.log2(Math.max(snapshot.count, 1)));
    this.base = 0; // of the band found last
    this.arrange("age");
  }

  /** Stack by "age" or by one of GROUPINGS, the group with most at the peak lowest. */
  arrange(order) {
    const { snapshot } = this;
    const { byAllocation } = snapshot;
    this.blocks = order === "age" ? byAllocation : inGroups(byAllocation, snapshot.groupedBy(order));
    this.blocks.forEach((block, place) => { this.place[block] = place; });
  }

  /**
   * Fill `owners` (width * height numbers, top row first) with blocks, -1 where there is none; yield after each small part
   * of it. Only one such work may be under way.
   *
   * A column in which much happens shows the moment at which most was alive, so no peak is lost.
   */
  *steps({ t0, t1, y0, y1 }, width, height, owners) {
    const { snapshot } = this;
    owners.fill(-1);
    const spans = new Int32Array(2 * height); // of each band its end in pixels from below, and its block
    let event = snapshot.firstEventFrom(t0);
    let live = event ? snapshot.live[event - 1] : 0;
    yield* this.#startBefore(event);
    let count = this.#spansAt(live, y0, y1, height, spans);
    let isStale = false; // the tree has gone on since the spans were asked for
    let from = 0; // the first column that is not painted yet
    for (let column = 0; column < width; column++) {
      const end = t0 + ((column + 1) * (t1 - t0)) / width;
      const first = event;
      let most = first - 1; // the event after which most is alive
      for (; event < snapshot.events && snapshot.eventTime[event] < end; event++) {
        if (snapshot.live[event] > live) {
          live = snapshot.live[event];
          most = event;
        }
      }
      if (event === first && !isStale) continue;
      paint(owners, spans, count, from, column, width, height);
      yield* this.#apply(first, most + 1);
      if (isStale || most >= first) count = this.#spansAt(live, y0, y1, height, spans);
      from = column;
      isStale = most + 1 < event;
      if (isStale) {
        paint(owners, spans, count, from++, column + 1, width, height);
        yield* this.#apply(most + 1, event);
        live = snapshot.live[event - 1];
      }
      yield;
    }
    paint(owners, spans, count, from, width, width, height);
  }

  /** Build the tree of what is alive before an event, in linear time. */
  *#startBefore(event) {
    const { snapshot, tree, place } = this;
    tree.fill(0);
    for (let block = 0; block < snapshot.count; block++) {
      if (snapshot.isAliveAt(block, event - 1)) tree[place[block] + 1] = snapshot.nbytes[block];
      if (block % STEP === STEP - 1) yield;
    }
    for (let node = 1; node < tree.length; node++) {
      const parent = node + (node & -node);
      if (parent < tree.length) tree[parent] += tree[node];
      if (node % STEP === STEP - 1) yield;
    }
  }

  /** Take events into the tree, except blocks that are allocated and freed between the two. */
  *#apply(first, end) {
    const { snapshot, tree, place } = this;
    for (let event = first; event < end; event++) {
      const block = snapshot.eventBlock[event];
      const isAllocation = snapshot.allocatedAt[block] === event;
      if (event % STEP === STEP - 1) yield;
      if (isAllocation ? snapshot.freedAt[block] < end : snapshot.allocatedAt[block] >= first) continue;
      const size = isAllocation ? snapshot.nbytes[block] : -snapshot.nbytes[block];
      for (let node = place[block] + 1; node < tree.length; node += node & -node) tree[node] += size;
    }
  }

  /** Return the place of the block that covers a height below the top, and note where its band begins. */
  #placeAt(bytes) {
    const { tree } = this;
    let place = 0;
    let rest = bytes;
    for (let step = this.firstStep; step; step >>= 1) {
      const next = place + step;
      if (next < tree.length && tree[next] <= rest) {
        place = next;
        rest -= tree[next];
      }
    }
    this.base = bytes - rest;
    return place;
  }

  #spansAt(live, y0, y1, height, spans) {
    const perPixel = (y1 - y0) / height;
    let count = 0;
    for (let pixel = 0; pixel < height;) {
      const bytes = y0 + (pixel + 0.5) * perPixel;
      if (bytes >= live) break;
      const block = this.blocks[this.#placeAt(bytes)];
      const top = (this.base + this.snapshot.nbytes[block] - y0) / perPixel;
      pixel = Math.min(height, Math.max(pixel + 1, Math.ceil(top - 0.5)));
      spans[2 * count] = pixel;
      spans[2 * count + 1] = block;
      count++;
    }
    return count;
  }
}

const STEP = 8192; // blocks or events between two moments at which others may have their turn

/** Return blocks group by group, in each of them as they were: by counting, since sorting a million takes a second. */
function inGroups(blocks, { groups, rankOfBlock }) {
  const next = new Uint32Array(groups.length);
  for (let rank = 1; rank < groups.length; rank++) next[rank] = next[rank - 1] + groups[rank - 1].count;
  const arranged = new Uint32Array(blocks.length);
  for (const block of blocks) arranged[next[rankOfBlock[block]]++] = block;
  return arranged;
}

/** Write bands into the columns from one to another. */
function paint(owners, spans, count, from, to, width, height) {
  let row = height - 1;
  for (let band = 0; band < count; band++) {
    const block = spans[2 * band + 1];
    for (const end = height - spans[2 * band]; row >= end; row--) {
      if (to - from === 1) owners[row * width + from] = block;
      else owners.fill(block, row * width + from, row * width + to);
    }
  }
}
