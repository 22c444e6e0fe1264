/** Put the parts of the page together. */

class Page {
  constructor(facts) {
    this.facts = facts;
    this.processes = processesOf(facts);
    this.#setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    this.timeline = new Timeline(find("plot"), find("overview"));
    this.details = new Details(this.timeline, find("details"));
    this.timeline.addEventListener("choose", () => this.#markChosen());
    this.timeline.addEventListener("filter", () => this.tabs?.forEach(({ list }) => list?.fill?.()));
    this.#wire();
    this.#offer(find("process"), [...this.processes.keys()].map((name) => [name, name === ALL ? "all, summed" : name]));
    find("process").parentElement.hidden = this.processes.size === 1;
    this.use([...this.processes.keys()][0]);
  }

  get snapshot() {
    return this.timeline.snapshot;
  }

  /** Show one process, or all together. */
  use(name) {
    const snapshot = new Snapshot(this.processes.get(name));
    const by = bestGrouping(snapshot);
    const known = Object.entries(GROUPINGS).filter(([, { isKnown }]) => !isKnown || isKnown(snapshot.facts));
    this.#offer(find("colour"), known.map(([by, { one }]) => [by, one]));
    this.#offer(find("order"), [["age", "age, oldest below"], ...known.map(([by, { one }]) => [by, one])]);
    find("colour").value = by;
    const arrays = snapshot.residentPeak ? snapshot.arraysAtResidentPeak / snapshot.residentPeak : 1;
    find("parts").parentElement.hidden = !snapshot.residentPeak;
    find("parts").checked = this.timeline.showsProcess = arrays < 0.5;
    this.timeline.use(snapshot, by);
    this.#writeBanner(find("banner"), arrays);
    this.#writeHead(find("program"), find("facts"), find("figures"));
    this.#sayWhyNothing(find("nothing"));
    this.#writeLegend();
    this.#writeLists(document.querySelector("[role=tablist]"), find("lists"));
    this.search(find("search").value);
    this.details.show();
  }

  colourBy(by) {
    this.timeline.colourBy(by);
    this.#writeLegend();
    this.#writeLists(document.querySelector("[role=tablist]"), find("lists"));
  }

  /** Find blocks by words in their stacks; all others pale, and tables and flame view leave them out. */
  search(text) {
    const shown = blocksWith(this.snapshot, text);
    this.timeline.filter(shown);
    let [count, peak] = [0, 0];
    shown?.forEach((isFound, block) => {
      count += isFound;
      if (isFound && this.snapshot.isAliveAt(block, this.snapshot.peakEvent)) peak += this.snapshot.nbytes[block];
    });
    find("found").textContent = shown ? `${plural(count, "block")}, ${formatSize(peak)} at the peak` : "";
  }

  #offer(select, choices) {
    select.replaceChildren(...choices.map(([value, name]) => make("option", { value }, name)));
  }

  #writeHead(program, line, figures) {
    const { snapshot } = this;
    const { facts } = snapshot;
    program.textContent = facts.program;
    line.textContent = [
      facts.started.replace("T", " ").slice(0, 19), formatTime(snapshot.duration),
      ...(facts.processNames ? [plural(facts.processNames.length, "process").replace(/ss(?=s$)/, "sse")] : []),
      plural(facts.threads.length, "thread"),
      `tensix ${facts.tensix}`, ...(facts.dropped ? [`${plural(facts.dropped, "event")} not kept`] : []),
    ].join(" · ");
    const sum = (moments) => formatSize(moments.reduce((bytes, moment) => bytes + moment.nbytes, 0));
    const tiles = [
      ["Peak", formatSize(snapshot.peak), `at ${formatTime(snapshot.peakTime)}`],
      ...(snapshot.residentPeak ? [["Peak resident", formatSize(snapshot.residentPeak), `${formatSize(snapshot.unexplained)} outside ${snapshot.blocksInWords}, ${formatSize(snapshot.kept)} kept by tensix`]] : []),
      ["Live at the end", formatSize(snapshot.liveAtEnd), plural(this.#alive().length, "block")],
      ["Allocated in total", formatSize(snapshot.total), plural(snapshot.count, "block")],
      ["Call sites", formatCount(snapshot.sites.length), plural(facts.allocators.length, "allocator")],
      ["Copies", formatCount(facts.copies.length), facts.copies.length ? `${sum(facts.copies)} by copy-on-write` : "none by copy-on-write"],
      ["Failures", formatCount(facts.failures.length), facts.failures.length ? "out of memory" : "no allocation failed"],
    ];
    figures.replaceChildren(...tiles.map(([name, value, note]) => make("div", { className: name === "Failures" && value !== "0" ? "bad" : "" },
      make("dt", {}, name), make("dd", { className: "value" }, value), make("dd", { className: "note" }, note))));
  }

  /** Say what the process has, where arrays are less than half of it. */
  #writeBanner(banner, share) {
    const { residentPeak, partsAtResidentPeak: parts } = this.snapshot;
    banner.hidden = share >= 0.5;
    if (banner.hidden) return;
    const sizes = parts.map(({ name, begin, end }) => `${formatSize(end - begin)} ${name}`);
    banner.textContent = `${capitalised(this.snapshot.blocksInWords)} are ${(100 * share).toFixed(0)} % of the peak of resident memory, ${formatSize(residentPeak)}; the rest is ${sizes.join(", ")}.`;
  }

  /** Say why there is nothing to see, where there is nothing. */
  #sayWhyNothing(box) {
    const { facts, count } = this.snapshot;
    box.hidden = count > 0;
    if (count) return;
    const reasons = [
      ...(facts.dropped ? [`${plural(facts.dropped, "event")} did not fit: increase max_events.`] : []),
      ...(facts.failures.length ? ["Every allocation failed: see Failures below."] : []),
      facts.blocks.kind
        ? "No tensor and no NumPy array was made during the recording."
        : "No function of tensix allocated memory during the recording. NumPy arrays are recorded only inside serve_numpy().",
      "Blocks allocated before the recording, and those of other libraries, are not recorded.",
    ];
    box.replaceChildren(make("h3", {}, "No block was recorded"), ...reasons.map((reason) => make("p", {}, reason)));
  }

  #alive() {
    return [...this.snapshot.byAllocation].filter((block) => this.snapshot.freed[block] === Infinity);
  }

  /** A button for each group that has a colour of its own, and words for what else is drawn. */
  #writeLegend() {
    const { timeline } = this;
    const { groups, one } = timeline.grouping;
    this.legend = groups.slice(0, PALETTE.length).map((group) => {
      const button = make("button", {
        type: "button", onclick: () => timeline.choose({ group: group === timeline.group ? null : group }),
      }, chip(group), group.name);
      return { group, button };
    });
    const line = make("li", { className: "resident" }, make("span", { className: "stroke" }),
      `resident memory${this.snapshot.residentPeak > timeline.whole.y1 ? `, up to ${formatSize(this.snapshot.residentPeak)}: above this picture` : ""}`);
    const bands = timeline.showsProcess ? this.snapshot.partsAtResidentPeak.map(({ name, colour, begin, end }) => {
      const chip = make("span", { className: "chip" });
      chip.style.background = colour;
      return make("li", { className: "resident" }, chip, `${name}, ${formatSize(end - begin)}`);
    }) : [];
    const hatch = make("li", { className: "hatched" }, make("span", { className: "chip" }), "hatched: not used again");
    find("legend").setAttribute("aria-label", `Most at the peak by ${one}`);
    find("legend").replaceChildren(...this.legend.map(({ button }) => make("li", {}, button)), ...bands, ...(this.snapshot.residentPeak ? [line] : []), ...(this.snapshot.lastUsed?.some(Number.isFinite) ? [hatch] : []));
    this.#markChosen();
  }

  #markChosen() {
    for (const { group, button } of this.legend ?? []) button.setAttribute("aria-pressed", String(group === this.timeline.group));
    for (const { list } of this.tabs ?? []) list?.mark?.();
  }

  #wire() {
    const { timeline } = this;
    find("zoom-in").onclick = () => timeline.zoomTime(0.5);
    find("zoom-out").onclick = () => timeline.zoomTime(2);
    find("fit").onclick = () => timeline.fit();
    find("go-to-peak").onclick = () => {
      const length = (timeline.view.t1 - timeline.view.t0) / 4;
      const time = this.snapshot.peakTime;
      timeline.show({ ...timeline.whole, t0: time - length / 2, t1: time + length / 2 });
    };
    find("parts").onchange = (event) => {
      timeline.showsProcess = event.target.checked;
      timeline.fit();
      this.#writeLegend();
    };
    find("order").onchange = (event) => timeline.arrange(event.target.value);
    find("colour").onchange = (event) => this.colourBy(event.target.value);
    find("process").onchange = (event) => this.use(event.target.value);
    find("search").oninput = (event) => this.search(event.target.value);
    find("theme").onclick = () => this.#setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.matches("input, select")) return;
      event.preventDefault();
      find("search").focus();
    });
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault(); // a browser would leave the page for the file
      const [file] = event.dataTransfer.files;
      if (!file) return;
      this.open(this.tabs.findIndex(({ name }) => name === "Compare"));
      this.comparison.read(file);
    });
  }

  #setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    find("theme").textContent = theme === "dark" ? "Light" : "Dark";
    if (this.timeline?.snapshot) this.timeline.choose(this.timeline); // its colours are others
  }

  #makeComparison() {
    const shown = this.comparison?.shown ?? (this.facts.compared ? [this.facts.compared, "the other snapshot"] : null);
    this.comparison = new Comparison(this.timeline);
    if (shown) this.comparison.show(...shown);
    return this.comparison;
  }

  #writeLists(bar, section) {
    const { timeline } = this;
    const { copies, failures, advice } = this.snapshot.facts;
    const alive = this.#alive();
    const lists = [
      [timeline.grouping.many, () => tableOfGroups(timeline)],
      ["Flame view", () => new Flame(timeline)],
      ...(advice?.length ? [[`Advice (${formatCount(advice.length)})`, () => tableOfAdvice(timeline, advice)]] : []),
      [`Live at the end (${formatCount(alive.length)})`, () => tableOfBlocks(timeline, alive)],
      [`Copies (${formatCount(copies.length)})`, () => tableOfMoments(timeline, copies, "No lazy clone became real.")],
      [`Failures (${formatCount(failures.length)})`, () => tableOfMoments(timeline, failures, "No request for memory was refused.")],
      ["Compare", () => this.#makeComparison()],
    ];
    const opened = Math.max(0, this.tabs?.findIndex(({ panel }) => !panel.hidden) ?? 0);
    for (const { panel } of this.tabs ?? []) panel.remove();
    this.tabs = lists.map(([name, makeList], number) => {
      const panel = make("div", { id: `list-${number}`, role: "tabpanel", "aria-label": name, hidden: true });
      const tab = make("button", { type: "button", role: "tab", "aria-controls": panel.id, onclick: () => this.open(number) }, name);
      section.append(panel);
      return { name, tab, panel, makeList, list: null };
    });
    bar.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const now = this.tabs.findIndex(({ tab }) => tab === document.activeElement);
      const next = (now + step + this.tabs.length) % this.tabs.length;
      this.open(next);
      this.tabs[next].tab.focus();
    };
    bar.replaceChildren(...this.tabs.map(({ tab }) => tab));
    this.open(this.facts.compared && !this.comparison ? lists.length - 1 : Math.min(opened, lists.length - 1));
  }

  /** Open one of the lists; it is made when first opened. */
  open(chosen) {
    this.tabs.forEach((one, number) => {
      const isOpen = number === chosen;
      if (isOpen && !one.list) {
        one.list = one.makeList();
        one.panel.append(one.list.element);
      }
      one.panel.hidden = !isOpen;
      one.tab.setAttribute("aria-selected", String(isOpen));
      one.tab.tabIndex = isOpen ? 0 : -1;
    });
  }
}

function find(id) {
  return document.getElementById(id);
}

const page = new Page(JSON.parse(find("snapshot").textContent));
