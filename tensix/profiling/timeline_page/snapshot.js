/** The columns of a snapshot as typed arrays, and what follows from them. Sizes are bytes, times nanoseconds. */

/** What of the resident memory is in no block: names in the order of their bands, colours, and columns. */
const PARTS = [
  ["Python objects", "#c9a227", "python"],
  ["libraries", "#5b9279", "libraries"], ["mapped files", "#8fb39f", "files"],
  ["shared memory", "#c08497", "shared"], ["stacks", "#9c8f80", "stacks"], ["Arrow", "#d08c60", "arrow"],
  ["C heap", "#8a6fb0", "heap"], ["C heap, free", "#b9a9cf", "heap_free"],
];

/** What is summed up of blocks: names of sums, and what they are called. */
const MEASURES = { peak: "at the peak", total: "in total", live: "live at the end" };

const NATIVE = 3; // the kind of blocks that other libraries asked for; the library is the innermost frame of their stacks

class Snapshot {
  constructor(facts) {
    const { blocks } = facts;
    this.facts = facts;
    this.count = blocks.nbytes.length;
    this.nbytes = Float64Array.from(blocks.nbytes);
    this.allocated = Float64Array.from(blocks.allocated_ns);
    this.freed = Float64Array.from(blocks.freed_ns, (time) => time ?? Infinity);
    this.stackOfBlock = Uint32Array.from(blocks.stack);
    // When a block was used for the last time, which is known of tensors only; of others it is never too late.
    this.lastUsed = blocks.last_used_ns && Float64Array.from(blocks.last_used_ns, (time) => time ?? Infinity);
    this.holders = new Map();
    for (const { block, text } of facts.holders) {
      if (!this.holders.has(block)) this.holders.set(block, []);
      this.holders.get(block).push(text);
    }
    this.blocksInWords = blocks.kind?.includes(NATIVE) ? "these blocks" : "arrays";
    this.groupings = new Map();
    this.#orderEvents();
    this.#followLive();
    this.#followResident();
    // A stack knows its line, which is the call site of its blocks.
    this.stacks = facts.stacks.map((frames, number) => ({ number, frames, line: facts.call_sites[number] ?? -1, ...noBlocks() }));
    for (let block = 0; block < this.count; block++) addTo(this.stackOf(block), this, block);
    this.total = this.stacks.reduce((sum, stack) => sum + stack.total, 0);
  }

  /** Put allocations and frees in one order; of those at one moment allocations go first, so that none is freed before. */
  #orderEvents() {
    const byTime = (times) => (one, other) => times[one] - times[other] || one - other;
    const all = Uint32Array.from({ length: this.count }, (_, block) => block);
    const isInOrder = all.every((block) => !block || this.allocated[block - 1] <= this.allocated[block]);
    const byAllocation = isInOrder ? all : all.slice().sort(byTime(this.allocated));
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

  /** Find the largest sample of resident memory, if there are any, what tensix keeps of it, and what is outside arrays.
   * Of those within a hundredth it is the one in which least is kept: `sample_of_peak` in summary.py. A peak between two
   * samples is in the later one, so the most that was alive since the one before counts. */
  #followResident() {
    const { time_ns: times = [], nbytes = [], cached, libraries, stacks } = this.facts.resident ?? {};
    this.residentPeak = nbytes.reduce((most, bytes) => Math.max(most, bytes), 0);
    const most = nbytes.flatMap((bytes, at) => (bytes >= 0.99 * this.residentPeak ? [at] : []));
    const least = most.reduce((fewest, at) => Math.min(fewest, cached[at]), Infinity);
    const mapped = (at) => (libraries?.[at] ?? 0) + (stacks?.[at] ?? 0);
    const equal = most.filter((at) => cached[at] === least);
    const all = equal.reduce((sum, at) => Math.max(sum, mapped(at)), 0) - 0.01 * this.residentPeak;
    const sample = equal.find((at) => mapped(at) >= all) ?? -1;
    this.processPeak = this.residentPeak;
    if (sample < 0) return;
    const end = this.firstEventFrom(times[sample] + 1);
    const begin = sample ? this.firstEventFrom(times[sample - 1] + 1) : 0;
    let live = begin ? this.live[begin - 1] : 0;
    for (let event = begin; event < end; event++) live = Math.max(live, this.live[event]);
    this.kept = this.keptAt(sample, live);
    this.processPeak = this.residentPeak + this.untouchedAt(sample);
    this.unexplained = Math.max(0, this.processPeak - live - this.kept);
    this.arraysAtResidentPeak = Math.min(Math.max(0, live - this.untouchedAt(sample)), this.residentPeak);
    this.partsAtResidentPeak = this.partsOf(sample, live);
  }

  /** Return the bands of a sample above what is alive: where each begins and ends, in bytes. */
  partsOf(sample, live) {
    const { resident } = this.facts;
    const most = resident.nbytes[sample] + this.untouchedAt(sample);
    let end = Math.min(live, most);
    const bandOf = (name, colour, nbytes) => {
      const begin = end;
      end = Math.min(most, begin + nbytes);
      return { name, colour, begin, end };
    };
    return [
      bandOf("kept by tensix", "#7a8ba6", this.keptAt(sample, live)),
      ...PARTS.map(([name, colour, column]) => bandOf(name, colour, resident[column]?.[sample] ?? 0)),
      bandOf("the rest", "#a8a8a2", Infinity),
    ].filter((band) => band.end > band.begin);
  }

  /** Return what tensix keeps at a sample: some of it may still be alive, so at most what the other parts leave. */
  keptAt(sample, live) {
    const { resident } = this.facts;
    const named = PARTS.reduce((sum, [, , column]) => sum + (resident[column]?.[sample] ?? 0), 0);
    const left = resident.nbytes[sample] + this.untouchedAt(sample) - live - named;
    return Math.min(resident.cached[sample] + resident.recording[sample], Math.max(0, left));
  }

  /** Return what of other libraries' blocks is not resident at a sample: the bands above are so much higher. */
  untouchedAt(sample) {
    return this.facts.resident.untouched?.[sample] ?? 0;
  }

  /** Return the blocks in groups by one of GROUPINGS; made when first asked for. */
  groupedBy(by) {
    if (!this.groupings.has(by)) this.groupings.set(by, new Grouping(this, by));
    return this.groupings.get(by);
  }

  get sites() {
    return this.groupedBy("site").groups;
  }

  isAllocation(event) {
    return this.allocatedAt[this.eventBlock[event]] === event;
  }

  isAliveAt(block, event) {
    return this.allocatedAt[block] <= event && event < this.freedAt[block];
  }

  /** Return the number of the first event at this time or later. */
  firstEventFrom(time) {
    return firstFrom(this.eventTime, time);
  }

  liveAt(time) {
    const next = this.firstEventFrom(time);
    return next ? this.live[next - 1] : 0;
  }

  /** Return the number of the sample of resident memory before a time, -1 where there is none. */
  sampleAt(time) {
    const { resident } = this.facts;
    return resident ? firstFrom(resident.time_ns, time + 1) - 1 : -1;
  }

  /** Return the resident memory at a time, which is that of the sample before; null where there is none. */
  residentAt(time) {
    const sample = this.sampleAt(time);
    return sample < 0 ? null : this.facts.resident.nbytes[sample];
  }

  /** Return how long a block lay unused before it was freed, or before the end; null where that is not known. */
  idleOf(block) {
    const last = this.lastUsed ? this.lastUsed[block] : Infinity;
    return last === Infinity ? null : Math.max(0, Math.min(this.freed[block], this.duration) - last);
  }

  stackOf(block) {
    return this.stacks[this.stackOfBlock[block]];
  }

  nameOfFrame(frame) {
    if (frame < 0) return "no Python frame";
    const { file, line, function: name } = this.facts.frames[frame];
    return line ? `${nameOfFile(file)}:${line} ${name}` : name; // a library has no lines
  }

  /** Return the text of a frame's line, "" where the snapshot has none. */
  sourceOf(frame) {
    return frame < 0 ? "" : this.facts.frames[frame].source ?? "";
  }
}

function nameOfFile(path) {
  return path.split(/[\\/]/).pop();
}

/** Return the position of the first of ascending numbers that is this or more. */
function firstFrom(numbers, least) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
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
