/** The columns of a snapshot as typed arrays, and what follows from them. Sizes are bytes, times nanoseconds. */

class Snapshot {
  constructor(facts) {
    const { blocks } = facts;
    this.facts = facts;
    this.count = blocks.nbytes.length;
    this.nbytes = Float64Array.from(blocks.nbytes);
    this.allocated = Float64Array.from(blocks.allocated_ns);
    this.freed = Float64Array.from(blocks.freed_ns, (time) => time ?? Infinity);
    this.holders = new Map();
    for (const { block, text } of facts.holders) {
      this.holders.set(block, [...(this.holders.get(block) ?? []), text]);
    }
    this.#orderEvents();
    this.#followLive();
    this.#sumUp();
  }

  /** Put allocations and frees in one order; of those at one moment allocations go first, so that none is freed before. */
  #orderEvents() {
    const byTime = (times) => (one, other) => times[one] - times[other] || one - other;
    const all = Uint32Array.from({ length: this.count }, (_, block) => block);
    const byAllocation = all.slice().sort(byTime(this.allocated));
    const byFree = all.filter((block) => this.freed[block] !== Infinity).sort(byTime(this.freed));
    this.events = byAllocation.length + byFree.length;
    this.eventTime = new Float64Array(this.events);
    this.eventBlock = new Uint32Array(this.events);
    this.allocatedAt = new Uint32Array(this.count); // numbers of events
    this.freedAt = new Uint32Array(this.count).fill(this.events);
    for (let event = 0, a = 0, f = 0; event < this.events; event++) {
      const [toAllocate, toFree] = [byAllocation[a], byFree[f]]; // undefined at its end, which compares as false
      const isAllocation = toFree === undefined || this.allocated[toAllocate] <= this.freed[toFree];
      const block = isAllocation ? toAllocate : toFree;
      if (isAllocation) a++; else f++;
      (isAllocation ? this.allocatedAt : this.freedAt)[block] = event;
      this.eventTime[event] = (isAllocation ? this.allocated : this.freed)[block];
      this.eventBlock[event] = block;
    }
    this.byAllocation = byAllocation;
    const last = this.events ? this.eventTime[this.events - 1] : 0;
    this.duration = Math.max(this.facts.duration_ns, last, 1);
  }

  #followLive() {
    this.live = new Float64Array(this.events); // after each event
    this.peak = 0;
    this.peakEvent = -1;
    let live = 0;
    for (let event = 0; event < this.events; event++) {
      const block = this.eventBlock[event];
      live += this.isAllocation(event) ? this.nbytes[block] : -this.nbytes[block];
      this.live[event] = live;
      if (live > this.peak) {
        this.peak = live;
        this.peakEvent = event;
      }
    }
    this.liveAtEnd = live;
    this.peakTime = this.peakEvent < 0 ? 0 : this.eventTime[this.peakEvent];
  }

  /** Add up blocks by stack, and stacks by call site. */
  #sumUp() {
    this.stacks = this.facts.stacks.map((frames) => ({ frames, ...noBlocks() }));
    for (let block = 0; block < this.count; block++) {
      addTo(this.stacks[this.facts.blocks.stack[block]], this, block);
    }
    const siteOfFrame = new Map();
    this.sites = [];
    for (const [number, stack] of this.stacks.entries()) {
      const frame = this.callSiteOf(number);
      if (!siteOfFrame.has(frame)) {
        siteOfFrame.set(frame, { frame, stacks: [], ...noBlocks() });
        this.sites.push(siteOfFrame.get(frame));
      }
      stack.site = siteOfFrame.get(frame);
      stack.site.stacks.push(stack);
      for (const measure of ["peak", "total", "live", "count", "life"]) stack.site[measure] += stack[measure];
      stack.site.largest = Math.max(stack.site.largest, stack.largest);
    }
    this.sites = this.sites.filter((site) => site.count);
    this.sites.sort((one, other) => other.peak - one.peak || other.total - one.total);
    this.sites.forEach((site, rank) => { site.rank = rank; });
    this.rankOfBlock = Uint32Array.from(this.facts.blocks.stack, (stack) => this.stacks[stack].site.rank);
    this.total = this.sites.reduce((sum, site) => sum + site.total, 0);
  }

  /** Return the frame that the blocks of a stack belong to, the innermost of the user's program; -1 without a frame. */
  callSiteOf(stack) {
    return this.facts.call_sites[stack] ?? -1;
  }

  isAllocation(event) {
    return this.allocatedAt[this.eventBlock[event]] === event;
  }

  isAliveAt(block, event) {
    return this.allocatedAt[block] <= event && event < this.freedAt[block];
  }

  /** Return the number of the first event at this time or later. */
  firstEventFrom(time) {
    let low = 0;
    let high = this.events;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.eventTime[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  liveAt(time) {
    const next = this.firstEventFrom(time);
    return next ? this.live[next - 1] : 0;
  }

  siteOf(block) {
    return this.sites[this.rankOfBlock[block]];
  }

  stackOf(block) {
    return this.stacks[this.facts.blocks.stack[block]];
  }

  nameOfFrame(frame) {
    if (frame < 0) return "no Python frame";
    const { file, line, function: name } = this.facts.frames[frame];
    return `${file.split(/[\\/]/).pop()}:${line} ${name}`;
  }
}

function noBlocks() {
  return { peak: 0, total: 0, live: 0, count: 0, largest: 0, life: 0 };
}

function addTo(sums, snapshot, block) {
  const size = snapshot.nbytes[block];
  const isAlive = snapshot.freed[block] === Infinity;
  sums.total += size;
  sums.count += 1;
  sums.largest = Math.max(sums.largest, size);
  sums.life += (isAlive ? snapshot.duration : snapshot.freed[block]) - snapshot.allocated[block];
  if (isAlive) sums.live += size;
  if (snapshot.isAliveAt(block, snapshot.peakEvent)) sums.peak += size;
}
