/** The picture of live memory over time: drawing, pointer and keys. What a pixel shows is asked of Bands. */

const PALETTE = [
  "#5b84d6", "#e2903f", "#3fa79b", "#d3657f", "#74ab4c", "#9273c9", "#d8b13c", "#6cb2de", "#bd5f45", "#9aa24a",
  "#d292c3", "#7f8fa8",
];
const MARGIN = { left: 74, right: 12, top: 20, bottom: 24 };

/** Return the colour of a call site; those with little memory at the peak have the colours of the others, faded. */
function colourOfSite(rank) {
  const colour = wordOf(PALETTE[rank % PALETTE.length]);
  return rank < PALETTE.length ? colour : mix(colour, wordOf("#a9abae"), 0.65);
}

class Timeline extends EventTarget {
  constructor(snapshot, plot, overview) {
    super();
    this.snapshot = snapshot;
    this.plot = plot;
    this.bandsCanvas = plot.querySelector("#bands");
    this.marksCanvas = plot.querySelector("#marks");
    this.tip = plot.querySelector("#tip");
    this.overview = overview;
    this.bands = new Bands(snapshot);
    this.siteColours = Uint32Array.from(snapshot.sites, (site) => colourOfSite(site.rank));
    this.block = -1; // the chosen one
    this.site = null; // the chosen one
    this.pointer = null; // where in the plot
    this.isDragged = false;
    this.isMoving = false; // shown in a coarser picture where a fine one takes too long
    this.movingScale = 2; // pixels of the picture per CSS pixel then
    this.view = this.whole;
    this.#listen();
    new ResizeObserver(() => this.redraw()).observe(plot);
  }

  // ---- what is seen

  get whole() {
    return { t0: 0, t1: this.snapshot.duration * 1.005, y0: 0, y1: Math.max(this.snapshot.peak, 1) * 1.06 };
  }

  fit() {
    this.show(this.whole);
  }

  /** Show times and sizes, as much of them as there is; a nanosecond and a byte are the least. */
  show({ t0, t1, y0, y1 }) {
    const { whole } = this;
    const [start, end] = clamp(t0, t1, whole.t1, 100);
    const [low, high] = clamp(y0, y1, whole.y1, 16);
    this.view = { t0: start, t1: end, y0: low, y1: high };
    this.isMoving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.isMoving = false;
      this.redraw();
    }, 150);
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

  /** Choose a block, which is outlined, or a call site, beside which all others pale, or neither. */
  choose({ block = -1, site = null }) {
    this.block = block;
    this.site = site;
    this.redraw();
    this.dispatchEvent(new Event("choose"));
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
    const column = Math.floor((x / this.width) * this.columns);
    const row = Math.floor((y / this.height) * this.rows);
    const isInside = column >= 0 && column < this.columns && row >= 0 && row < this.rows;
    return isInside ? this.owners[row * this.columns + column] : -1;
  }

  arrange(order) {
    this.bands.arrange(order);
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
    const areBandsOld = this.areBandsOld;
    this.areBandsOld = false;
    if (areBandsOld) {
      this.#drawBands();
      this.#drawOverview();
    }
    this.#drawMarks();
  }

  #drawBands() {
    const start = performance.now();
    const scale = Math.min(devicePixelRatio, 2, this.isMoving ? this.movingScale : 2);
    const columns = Math.max(1, Math.round(this.width * scale));
    const rows = Math.max(1, Math.round(this.height * scale));
    if (this.columns !== columns || this.rows !== rows) {
      Object.assign(this, { columns, rows, owners: new Int32Array(columns * rows), image: new ImageData(columns, rows) });
      Object.assign(this.bandsCanvas, { width: columns, height: rows });
    }
    Object.assign(this.bandsCanvas.style, {
      left: `${MARGIN.left}px`, top: `${MARGIN.top}px`, width: `${this.width}px`, height: `${this.height}px`,
    });
    this.bands.draw(this.view, columns, rows, this.owners);
    this.#colour();
    this.bandsCanvas.getContext("2d").putImageData(this.image, 0, 0);
    if (this.isMoving) this.#adaptTo(performance.now() - start);
  }

  /** Keep a frame below the 16 ms that the screen waits for it, whatever the snapshot and the machine. */
  #adaptTo(milliseconds) {
    if (milliseconds > 11) this.movingScale = Math.max(0.25, this.movingScale / (milliseconds > 30 ? 4 : 2));
    else if (milliseconds < 2.5 && this.movingScale < 2) this.movingScale *= 2;
  }

  /** Give pixels the colours of their call sites, and bands that are thick enough a border. */
  #colour() {
    const { owners, columns } = this;
    const colours = new Uint32Array(this.image.data.buffer);
    const { rankOfBlock, sites } = this.snapshot;
    const paper = wordOf(colourOf("--card"));
    const ink = wordOf(colourOf("--ink"));
    const plain = this.siteColours.slice();
    if (this.site) {
      for (const site of sites) if (site !== this.site) plain[site.rank] = mix(plain[site.rank], paper, 0.72);
    }
    const border = plain.map((word) => mix(word, ink, 0.3));
    for (let pixel = 0; pixel < owners.length; pixel++) {
      const block = owners[pixel];
      if (block < 0) {
        colours[pixel] = 0; // see-through
        continue;
      }
      const isTop = owners[pixel - columns] !== block && owners[pixel + 2 * columns] === block;
      const isLeft = owners[pixel - 1] !== block && owners[pixel + 2] === block
        && owners[pixel - columns] === block && owners[pixel + columns] === block;
      colours[pixel] = (isTop || isLeft ? border : plain)[rankOfBlock[block]];
    }
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
    for (const { time_ns: time } of snapshot.facts.copies) {
      drawTriangle(context, this.xOf(time), this.height, -8, colourOf("--accent"));
    }
    for (const { time_ns: time } of snapshot.facts.failures) {
      drawTriangle(context, this.xOf(time), 0, 8, colourOf("--bad"));
    }
    if (snapshot.peakEvent >= 0) this.#drawPeak(context, ink);
    if (this.block >= 0) this.#drawChosen(context, ink);
    context.restore();
    this.#drawPointer(context, soft, view);
  }

  #drawAxes(context, colour, line) {
    const { t0, t1, y0, y1 } = this.view;
    context.font = FONT;
    context.fillStyle = colour;
    context.strokeStyle = line;
    context.lineWidth = 1;
    const step = stepOfSizes((y1 - y0) / Math.max(2, this.height / 64));
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let bytes = Math.ceil(y0 / step) * step; bytes <= y1; bytes += step) {
      const y = Math.round(this.yOf(bytes)) + 0.5;
      context.globalAlpha = 0.5;
      strokeLine(context, 0, y, this.width, y);
      context.globalAlpha = 1;
      context.fillText(bytes ? shortSize(bytes) : "0", -8, y);
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
    context.fillText(text, Math.min(Math.max(x, half), this.width - half), Math.max(y - 6, -4));
  }

  /** Outline the chosen block, and draw its life as a bar below, which is there however thin the band is. */
  #drawChosen(context, ink) {
    const { owners, columns, rows, block } = this;
    const across = this.width / columns;
    const down = this.height / rows;
    const from = Math.max(0, Math.floor(this.xOf(this.snapshot.allocated[block]) / across) - 1);
    const until = Math.min(columns, Math.ceil(this.xOf(Math.min(this.snapshot.freed[block], this.view.t1)) / across) + 1);
    context.fillStyle = ink;
    for (let row = 0; row < rows; row++) {
      for (let column = from; column < until; column++) {
        const pixel = row * columns + column;
        if (owners[pixel] !== block) continue;
        const isEdge = column === 0 || owners[pixel - 1] !== block || column === columns - 1 || owners[pixel + 1] !== block
          || owners[pixel - columns] !== block || owners[pixel + columns] !== block;
        if (isEdge) context.fillRect(column * across - 0.5, row * down - 0.5, across + 1, down + 1);
      }
    }
    context.fillRect(from * across, this.height - 1, Math.max(3, (until - from) * across), 3);
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
    const live = make("div", { className: "soft" }, `${formatSize(this.snapshot.liveAt(time))} live at ${timeOnAxis(time, (view.t1 - view.t0) / 1000, view.t1)}`);
    const about = block < 0 ? [] : [
      make("div", {}, make("strong", {}, formatSize(this.snapshot.nbytes[block])), ` for ${lifeOf(this.snapshot, block)}`),
      make("div", { className: "site" }, this.snapshot.nameOfFrame(this.snapshot.siteOf(block).frame)),
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
    const { snapshot, overview, view } = this;
    const context = contextFor(overview);
    const width = this.width;
    const height = overview.clientHeight;
    const { t1, y1 } = this.whole;
    context.clearRect(0, 0, overview.clientWidth, height);
    context.translate(MARGIN.left, 0);
    if (this.skyline?.length !== Math.round(width)) this.skyline = skylineOf(snapshot, t1, Math.round(width));
    context.fillStyle = colourOf("--soft");
    context.globalAlpha = 0.45;
    this.skyline.forEach((live, column) => {
      context.fillRect(column, height - (live / y1) * height, 1, (live / y1) * height);
    });
    const left = (view.t0 / t1) * width;
    const right = (view.t1 / t1) * width;
    context.globalAlpha = 0.12;
    context.fillStyle = colourOf("--accent");
    context.fillRect(left, 0, right - left, height);
    context.globalAlpha = 1;
    context.strokeStyle = colourOf("--accent");
    context.strokeRect(left + 0.5, 0.5, Math.max(2, right - left - 1), height - 1);
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
      event.preventDefault();
      const { x, y } = placeOf(event);
      const turned = (event.deltaY || event.deltaX) * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1);
      const factor = Math.exp(Math.max(-1, Math.min(1, turned * 0.002)));
      if (event.shiftKey) this.zoomSize(factor, y);
      else this.zoomTime(factor, x);
    }, { passive: false });
    plot.addEventListener("keydown", (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : this.#actions[event.key.toLowerCase()];
      if (!act || (event.key === "Enter" && this.block < 0)) return;
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
    arrowleft: () => this.moveBy(-0.1, 0),
    arrowright: () => this.moveBy(0.1, 0),
    arrowup: () => this.moveBy(0, 0.1),
    arrowdown: () => this.moveBy(0, -0.1),
    "+": () => this.zoomTime(0.7),
    "=": () => this.zoomTime(0.7),
    "-": () => this.zoomTime(1 / 0.7),
    "]": () => this.zoomSize(0.7),
    "[": () => this.zoomSize(1 / 0.7),
    0: () => this.fit(),
    n: () => this.chooseNeighbour(1),
    p: () => this.chooseNeighbour(-1),
    enter: () => this.zoomToBlock(this.block),
    escape: () => this.choose({}),
  };
}
