/** The picture of live memory over time: drawing, pointer and keys. What a pixel shows is asked of Bands, by Pictures. */

const PALETTE = [
  "#5b84d6", "#e2903f", "#3fa79b", "#d3657f", "#74ab4c", "#9273c9", "#d8b13c", "#6cb2de", "#bd5f45", "#9aa24a",
  "#d292c3", "#7f8fa8",
];
const MOST_OVER_BLOCKS = 4; // times the blocks' peak: a process of more resident memory leaves the picture at the top
const MARGIN = { left: 74, right: 12, top: 20, bottom: 24 };

/** Return the colour of a group; those with little memory at the peak have the colours of the others, faded. */
function colourOfGroup({ rank }) {
  const colour = wordOf(PALETTE[rank % PALETTE.length]);
  return rank < PALETTE.length ? colour : mix(colour, wordOf("#a9abae"), 0.65);
}

/** Milliseconds of a frame's sixteen that pictures may take; drawing them, the marks and the browser take the rest. */
const TIME_FOR_PICTURES = 6;

class Timeline extends EventTarget {
  constructor(plot, overview) {
    super();
    this.plot = plot;
    this.bandsCanvas = plot.querySelector("#bands");
    this.marksCanvas = plot.querySelector("#marks");
    this.tip = plot.querySelector("#tip");
    this.overview = overview;
    this.pointer = null; // where in the plot
    this.isDragged = false;
    this.#listen();
    new ResizeObserver(() => this.redraw()).observe(plot);
  }

  /** Show a snapshot from now on, blocks in the colours of one of GROUPINGS. */
  use(snapshot, by) {
    this.snapshot = snapshot;
    this.bands = new Bands(snapshot);
    this.pictures = new Pictures(this.bands);
    this.grouping = snapshot.groupedBy(by);
    this.block = -1; // the chosen one
    this.group = null; // the chosen one
    this.#find(null);
    this.skyline = null;
    this.view = this.whole;
    this.redraw();
  }

  // ---- what is seen

  /** Everything: of resident memory only as much as leaves the blocks visible. */
  get whole() {
    const { peak, duration, processPeak } = this.snapshot;
    const isShown = this.showsProcess || processPeak <= MOST_OVER_BLOCKS * peak;
    const most = isShown ? Math.max(peak, processPeak) : peak;
    return { t0: 0, t1: duration * 1.005, y0: 0, y1: Math.max(most, 1) * 1.06 };
  }

  fit() {
    this.show(this.whole);
  }

  /** Show times and sizes, as much of them as there is; a nanosecond and a byte are the least. */
  show({ t0, t1, y0, y1 }) {
    const { whole } = this;
    const [start, end] = clamp(t0, t1, whole.t1, 100);
    const [low, high] = clamp(y0, y1, Math.max(whole.y1, this.snapshot.processPeak * 1.06), 16);
    this.view = { t0: start, t1: end, y0: low, y1: high };
    this.redraw();
  }

  zoomTime(factor, x = this.width / 2) {
    const { t0, t1 } = this.view;
    const time = this.timeAt(x);
    this.show({ ...this.view, t0: time - (time - t0) * factor, t1: time + (t1 - time) * factor });
  }

  zoomSize(factor, y = this.height) {
    const { y0, y1 } = this.view;
    const bytes = this.bytesAt(y);
    this.show({ ...this.view, y0: bytes - (bytes - y0) * factor, y1: bytes + (y1 - bytes) * factor });
  }

  moveBy(share, shareOfSize) {
    const { t0, t1, y0, y1 } = this.view;
    const dt = (t1 - t0) * share;
    const dy = (y1 - y0) * shareOfSize;
    this.show({ t0: t0 + dt, t1: t1 + dt, y0: y0 + dy, y1: y1 + dy });
  }

  zoomToBlock(block) {
    const { snapshot } = this;
    const start = snapshot.allocated[block];
    const life = Math.min(snapshot.freed[block], snapshot.duration) - start;
    this.show({ ...this.view, t0: start - life * 0.25 - 100, t1: start + life * 1.25 + 100 });
  }

  timeAt(x) {
    return this.view.t0 + (x / this.width) * (this.view.t1 - this.view.t0);
  }

  bytesAt(y) {
    return this.view.y1 - (y / this.height) * (this.view.y1 - this.view.y0);
  }

  xOf(time) {
    return ((time - this.view.t0) / (this.view.t1 - this.view.t0)) * this.width;
  }

  yOf(bytes) {
    return ((this.view.y1 - bytes) / (this.view.y1 - this.view.y0)) * this.height;
  }

  // ---- what is chosen

  /** Choose a block, which is outlined, or a group, beside which all others pale, or neither. */
  choose({ block = -1, group = null }) {
    this.block = block;
    this.group = group;
    this.#recolour();
    this.dispatchEvent(new Event("choose"));
  }

  /** Let the blocks pale that a search did not find: for each block whether it did. Null ends the search. */
  filter(shown) {
    this.#find(shown);
    this.#recolour();
    this.dispatchEvent(new Event("filter"));
  }

  /** Colour by one of GROUPINGS; a chosen block stays chosen. */
  colourBy(by) {
    this.grouping = this.snapshot.groupedBy(by);
    this.#find(this.shown);
    this.choose({ block: this.block });
  }

  /** Remember what a search found, and in which groups and stacks that is. */
  #find(shown) {
    this.shown = shown;
    this.foundRanks = shown && new Set(this.grouping.rankOfBlock.filter((_, block) => shown[block]));
    this.foundStacks = shown && new Set([...new Set(this.snapshot.stackOfBlock.filter((_, block) => shown[block]))]
      .map((stack) => this.snapshot.stacks[stack]));
  }

  chooseNeighbour(step) {
    const { byAllocation } = this.snapshot;
    if (!byAllocation.length) return;
    const place = this.block < 0 ? (step > 0 ? -1 : byAllocation.length) : byAllocation.indexOf(this.block);
    const block = byAllocation[Math.min(Math.max(place + step, 0), byAllocation.length - 1)];
    const { t0, t1 } = this.view;
    this.choose({ block });
    const start = this.snapshot.allocated[block];
    if (start < t0 || start > t1) this.show({ ...this.view, t0: start - (t1 - t0) / 2, t1: start + (t1 - t0) / 2 });
  }

  /** Return the block at a place of the plot, -1 where there is none. */
  blockAt(x, y) {
    const isInside = x >= 0 && x < this.width && y >= 0 && y < this.height;
    return isInside ? this.pictures.blockAt(this.timeAt(x), this.bytesAt(y)) : -1;
  }

  arrange(order) {
    this.bands.arrange(order);
    this.pictures.forget();
    this.redraw();
  }

  // ---- drawing: the bands when something has changed, the marks over them with every move of the pointer

  redraw() {
    this.areBandsOld = true;
    this.#ask();
  }

  #ask() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.drawNow();
    });
  }

  drawNow() {
    this.width = Math.max(1, this.plot.clientWidth - MARGIN.left - MARGIN.right);
    this.height = Math.max(1, this.plot.clientHeight - MARGIN.top - MARGIN.bottom);
    if (this.areBandsOld) {
      this.areBandsOld = false;
      if (!this.#drawBands()) this.redraw();
      this.#drawOverview();
    }
    this.#drawMarks();
  }

  /** Draw the bands as well as there is time; return whether they are exact. */
  #drawBands() {
    const scale = Math.min(devicePixelRatio, 2);
    const columns = Math.max(1, Math.round(this.width * scale));
    const rows = Math.max(1, Math.round(this.height * scale));
    if (this.columns !== columns || this.rows !== rows) {
      Object.assign(this, { columns, rows });
      Object.assign(this.bandsCanvas, { width: columns, height: rows });
      this.pictures.forget();
    }
    Object.assign(this.bandsCanvas.style, {
      left: `${MARGIN.left}px`, top: `${MARGIN.top}px`, width: `${this.width}px`, height: `${this.height}px`,
    });
    const deadline = performance.now() + TIME_FOR_PICTURES;
    const isDone = this.pictures.advance(this.view, this.whole, columns, rows, () => this.#paints(), deadline);
    this.pictures.show(this.bandsCanvas.getContext("2d"), this.view, columns, rows);
    return isDone;
  }

  #recolour() {
    this.pictures.recolour();
    this.redraw();
  }

  /** Return what says which colour a pixel of a block has. */
  #paints() {
    const { snapshot, grouping, group, shown, block } = this;
    const paper = wordOf(colourOf("--card"));
    const ink = wordOf(colourOf("--ink"));
    const plain = Uint32Array.from(grouping.groups, colourOfGroup);
    const { rankOfBlock } = grouping;
    const chosen = group?.rank;
    const isFaint = (one) => (chosen !== undefined && rankOfBlock[one] !== chosen) || (shown !== null && !shown[one]);
    const faint = plain.map((word) => mix(word, paper, 0.78));
    return {
      plain, faint, rankOfBlock, isFaint, ink, chosen: block, idleFrom: snapshot.lastUsed,
      pale: plain.map((word) => mix(word, paper, 0.5)),
      border: plain.map((word) => mix(word, ink, 0.3)),
      faintBorder: faint.map((word) => mix(word, ink, 0.15)),
    };
  }

  #drawMarks() {
    const { snapshot, view } = this;
    const context = contextFor(this.marksCanvas);
    const ink = colourOf("--ink");
    const soft = colourOf("--soft");
    context.clearRect(0, 0, this.plot.clientWidth, this.plot.clientHeight);
    context.translate(MARGIN.left, MARGIN.top);
    this.#drawAxes(context, soft, colourOf("--line"));
    context.save();
    context.beginPath();
    context.rect(0, -MARGIN.top, this.width, this.height + MARGIN.top + 8);
    context.clip();
    this.#drawMoments(context, snapshot.facts.copies, this.height, -8, colourOf("--accent"));
    this.#drawMoments(context, snapshot.facts.failures, 0, 8, colourOf("--bad"));
    if (snapshot.facts.marks?.length) this.#drawNamedMarks(context, soft);
    if (this.showsProcess) this.#drawParts(context);
    if (snapshot.residentPeak) this.#drawResident(context);
    if (snapshot.peakEvent >= 0) this.#drawPeak(context, ink);
    if (this.block >= 0) this.#drawLife(context, ink);
    context.restore();
    this.#drawPointer(context, soft, view);
  }

  /** Draw a triangle for each moment, and for many at one pixel one. */
  #drawMoments(context, moments, y, height, colour) {
    let last = -Infinity;
    for (const { time_ns: time } of moments) {
      const x = this.xOf(time);
      if (time < this.view.t0 || time > this.view.t1 || Math.abs(x - last) < 1) continue;
      drawTriangle(context, x, y, height, colour);
      last = x;
    }
  }

  /** Draw a line for each mark that the program set, with its name where there is space for it. */
  #drawNamedMarks(context, colour) {
    context.fillStyle = colour;
    context.strokeStyle = colour;
    context.textAlign = "left";
    context.textBaseline = "top";
    let end = -Infinity; // of the last name, or line, that was drawn
    for (const { time_ns: time, name } of this.snapshot.facts.marks) {
      const x = Math.round(this.xOf(time)) + 0.5;
      if (time < this.view.t0 || time > this.view.t1 || x <= end - context.measureText(name).width) continue;
      context.setLineDash([3, 3]);
      strokeLine(context, x, 0, x, this.height);
      context.setLineDash([]);
      if (x > end) {
        context.fillText(name, x + 4, 2);
        end = x + 8 + context.measureText(name).width;
      }
    }
  }

  /** Draw what else is resident above the blocks, in bands. */
  #drawParts(context) {
    context.globalAlpha = 0.45;
    for (let x = 0; x < this.width; x++) {
      const time = this.timeAt(x + 0.5);
      const sample = this.snapshot.sampleAt(time);
      if (sample < 0 || time > this.snapshot.duration) continue;
      for (const { colour, begin, end } of this.snapshot.partsOf(sample, this.snapshot.liveAt(time))) {
        const top = this.yOf(end);
        context.fillStyle = colour;
        context.fillRect(x, top, 1, this.yOf(begin) - top);
      }
    }
    context.globalAlpha = 1;
  }

  /** Return the band at a place, if one is drawn there. */
  #partAt(x, y) {
    const time = this.timeAt(x);
    const sample = this.showsProcess ? this.snapshot.sampleAt(time) : -1;
    const bytes = this.bytesAt(y);
    if (sample < 0) return undefined;
    return this.snapshot.partsOf(sample, this.snapshot.liveAt(time)).find(({ begin, end }) => begin <= bytes && bytes < end);
  }

  /** Draw the process's resident memory: in each column of pixels the largest sample, or the one before. */
  #drawResident(context) {
    const { time_ns: times, nbytes } = this.snapshot.facts.resident;
    context.strokeStyle = colourOf("--resident");
    context.lineWidth = 1.5;
    context.beginPath();
    let sample = firstFrom(times, this.view.t0);
    let latest = sample ? nbytes[sample - 1] : null;
    const end = Math.min(this.width, this.xOf(this.snapshot.duration));
    for (let x = 0; x < end; x++) {
      let most = null;
      for (const next = this.timeAt(x + 1); sample < times.length && times[sample] < next; sample++) {
        latest = nbytes[sample];
        most = Math.max(most, latest);
      }
      most ??= latest;
      if (most === null) continue; // before the first sample
      context.lineTo(x, this.yOf(most));
      context.lineTo(x + 1, this.yOf(most));
    }
    context.stroke();
    context.lineWidth = 1;
  }

  #drawAxes(context, colour, line) {
    const { t0, t1, y0, y1 } = this.view;
    context.font = FONT;
    context.fillStyle = colour;
    context.strokeStyle = line;
    context.lineWidth = 1;
    // A power of two, so that ticks are round in KiB and MiB.
    const step = 2 ** Math.max(0, Math.ceil(Math.log2((y1 - y0) / Math.max(2, this.height / 64))));
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let bytes = Math.ceil(y0 / step) * step; bytes <= y1; bytes += step) {
      const y = Math.round(this.yOf(bytes)) + 0.5;
      context.globalAlpha = 0.5;
      strokeLine(context, 0, y, this.width, y);
      context.globalAlpha = 1;
      const text = formatSize(bytes).replace(/\.?0+ (?=[KMG])/, " ").replace(/^1024 bytes$/, "1 KiB");
      context.fillText(bytes ? text : "0", -8, y);
    }
    const tick = stepOfTimes((t1 - t0) / Math.max(2, this.width / 110));
    context.textAlign = "center";
    context.textBaseline = "top";
    for (let number = Math.ceil(t0 / tick); number * tick <= t1; number++) {
      const x = Math.round(this.xOf(number * tick)) + 0.5;
      strokeLine(context, x, this.height, x, this.height + 4);
      const text = timeOnAxis(number * tick, tick, t1);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(x, this.width + MARGIN.right - half), this.height + 9);
    }
    strokeLine(context, 0, this.height + 0.5, this.width, this.height + 0.5);
  }

  #drawPeak(context, ink) {
    const x = this.xOf(this.snapshot.peakTime);
    const y = this.yOf(this.snapshot.peak);
    const text = `peak ${formatSize(this.snapshot.peak)}`;
    context.font = FONT;
    context.fillStyle = context.strokeStyle = ink;
    context.setLineDash([3, 3]);
    strokeLine(context, x, Math.max(y, 0), x, this.height);
    context.setLineDash([]);
    context.beginPath();
    context.arc(x, y, 3.5, 0, 2 * Math.PI);
    context.fill();
    const half = context.measureText(text).width / 2;
    context.textAlign = "center";
    context.textBaseline = "bottom";
    const place = [Math.min(Math.max(x, half), this.width - half), Math.max(y - 6, -4)];
    context.strokeStyle = colourOf("--card"); // the line of resident memory may run through it
    context.lineWidth = 4;
    context.strokeText(text, ...place);
    context.fillText(text, ...place);
    context.lineWidth = 1;
  }

  /** Draw the chosen block's life as a bar below, which is there however thin its band is. */
  #drawLife(context, ink) {
    const from = Math.max(0, this.xOf(this.snapshot.allocated[this.block]));
    const until = Math.min(this.width, this.xOf(Math.min(this.snapshot.freed[this.block], this.snapshot.duration)));
    context.fillStyle = ink;
    if (until >= 0 && from <= this.width) context.fillRect(from, this.height - 1, Math.max(3, until - from), 3);
  }

  #drawPointer(context, soft, view) {
    const place = this.pointer;
    const isInside = place && !this.isDragged && place.x >= 0 && place.x <= this.width && place.y >= 0 && place.y <= this.height;
    this.tip.hidden = !isInside;
    if (!isInside) return;
    context.strokeStyle = soft;
    context.globalAlpha = 0.7;
    strokeLine(context, place.x, 0, place.x, this.height);
    context.globalAlpha = 1;
    const block = this.blockAt(place.x, place.y);
    const time = this.timeAt(place.x);
    const resident = this.snapshot.residentAt(time);
    const live = make("div", { className: "soft" }, [
      `${formatSize(this.snapshot.liveAt(time))} live`, ...(resident === null ? [] : [`${formatSize(resident)} resident`]),
    ].join(", "), ` at ${timeOnAxis(time, (view.t1 - view.t0) / 1000, view.t1)}`);
    const part = block < 0 ? this.#partAt(place.x, place.y) : undefined;
    const about = block < 0 ? (part ? [make("div", {}, make("strong", {}, formatSize(part.end - part.begin)), ` ${part.name}`)] : []) : [
      make("div", {}, make("strong", {}, formatSize(this.snapshot.nbytes[block])), ` for ${lifeOf(this.snapshot, block)}`),
      ...lineWithSource(this.snapshot, this.snapshot.stackOf(block).line),
      ...(this.grouping.by === "site" ? [] : [make("div", { className: "soft" }, `${this.grouping.one}: ${this.grouping.groupOf(block).name}`)]),
    ];
    this.tip.replaceChildren(...about, live);
    const isRight = place.x > this.width / 2;
    Object.assign(this.tip.style, {
      left: isRight ? "auto" : `${MARGIN.left + place.x + 14}px`,
      right: isRight ? `${MARGIN.right + this.width - place.x + 14}px` : "auto",
      top: `${Math.max(0, Math.min(MARGIN.top + place.y + 12, this.plot.clientHeight - this.tip.offsetHeight))}px`,
    });
  }

  /** Draw the whole time in small, with a window over what is seen above. */
  #drawOverview() {
    const { overview, view } = this;
    const context = contextFor(overview);
    const width = this.width;
    const height = overview.clientHeight;
    const { t1 } = this.whole;
    context.clearRect(0, 0, overview.clientWidth, height);
    context.translate(MARGIN.left, 0);
    context.fillStyle = colourOf("--soft");
    context.globalAlpha = 0.45;
    context.fill(this.#skylineOf(Math.round(width), height));
    const left = (view.t0 / t1) * width;
    const right = (view.t1 / t1) * width;
    context.globalAlpha = 0.12;
    context.fillStyle = colourOf("--accent");
    context.fillRect(left, 0, right - left, height);
    context.globalAlpha = 1;
    context.strokeStyle = colourOf("--accent");
    context.strokeRect(left + 0.5, 0.5, Math.max(2, right - left - 1), height - 1);
  }

  /** Return the outline of live memory over the whole time; it is kept, for all events have to be asked. */
  #skylineOf(columns, height) {
    if (this.skyline?.columns === columns && this.skyline.height === height) return this.skyline.path;
    const path = new Path2D();
    const { snapshot, whole } = this;
    const scale = height / (Math.max(snapshot.peak, 1) * 1.06);
    let event = 0;
    let live = 0;
    for (let column = 0; column < columns; column++) {
      let most = live;
      for (const end = ((column + 1) / columns) * whole.t1; snapshot.eventTime[event] < end; event++) {
        live = snapshot.live[event];
        if (live > most) most = live;
      }
      path.rect(column, height - most * scale, 1, most * scale);
    }
    this.skyline = { columns, height, path };
    return path;
  }

  // ---- pointer and keys

  #listen() {
    const { plot, overview } = this;
    const placeOf = (event) => {
      const box = plot.getBoundingClientRect();
      return { x: event.clientX - box.left - MARGIN.left, y: event.clientY - box.top - MARGIN.top };
    };
    let start = null; // where the pointer went down, and the view then
    const drag = (isDragged) => {
      this.isDragged = isDragged;
      plot.classList.toggle("dragged", isDragged);
      this.#ask();
    };
    plot.addEventListener("pointerdown", (event) => {
      start = { ...placeOf(event), view: this.view };
      plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener("pointermove", (event) => {
      const place = placeOf(event);
      this.pointer = place;
      if (start && Math.hypot(place.x - start.x, place.y - start.y) > 4) drag(true);
      if (this.isDragged) {
        this.view = start.view;
        this.moveBy((start.x - place.x) / this.width, (place.y - start.y) / this.height);
      }
      this.#ask();
    });
    plot.addEventListener("pointerup", (event) => {
      const { x, y } = placeOf(event);
      if (start && !this.isDragged) this.choose({ block: this.blockAt(x, y) });
      start = null;
      drag(false);
    });
    plot.addEventListener("pointercancel", () => {
      start = null;
      drag(false);
    });
    plot.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.#ask();
    });
    plot.addEventListener("dblclick", () => this.fit());
    plot.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      const { x, y } = placeOf(event);
      const turned = (event.deltaY || event.deltaX) * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1);
      const factor = Math.exp(Math.max(-1, Math.min(1, turned * 0.002)));
      if (event.shiftKey) this.zoomSize(factor, y);
      else this.zoomTime(factor, x);
    }, { passive: false });
    document.addEventListener("keydown", (event) => {
      const { target } = event;
      const key = event.key.toLowerCase();
      const isTyped = key === "escape" ? target.value && target.matches("input") : target.matches("input, select");
      if (event.ctrlKey || event.metaKey || event.altKey || isTyped) return;
      // Elsewhere arrows scroll and go from tab to tab, and Enter presses what is focused.
      const isHere = target === plot || target === document.body;
      const act = this.#actions[key] ?? (isHere ? this.#actionsOnPlot[key] : undefined);
      if (!act || (key === "enter" && this.block < 0)) return;
      event.preventDefault();
      act();
    });
    const centreOn = (event) => {
      const half = (this.view.t1 - this.view.t0) / 2;
      const time = ((event.clientX - overview.getBoundingClientRect().left - MARGIN.left) / this.width) * this.whole.t1;
      this.show({ ...this.view, t0: time - half, t1: time + half });
    };
    overview.addEventListener("pointerdown", (event) => { overview.setPointerCapture(event.pointerId); centreOn(event); });
    overview.addEventListener("pointermove", (event) => { if (event.buttons) centreOn(event); });
  }

  #actions = {
    "+": () => this.zoomTime(0.7),
    "=": () => this.zoomTime(0.7),
    "-": () => this.zoomTime(1 / 0.7),
    "]": () => this.zoomSize(0.7),
    "[": () => this.zoomSize(1 / 0.7),
    0: () => this.fit(),
    n: () => this.chooseNeighbour(1),
    p: () => this.chooseNeighbour(-1),
    escape: () => this.choose({}),
  };

  #actionsOnPlot = {
    arrowleft: () => this.moveBy(-0.1, 0),
    arrowright: () => this.moveBy(0.1, 0),
    arrowup: () => this.moveBy(0, 0.1),
    arrowdown: () => this.moveBy(0, -0.1),
    enter: () => this.zoomToBlock(this.block),
  };
}
