/** Put the parts of the page together. */

class Page {
  constructor(facts) {
    const find = (id) => document.getElementById(id);
    this.snapshot = new Snapshot(facts);
    this.#setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    this.timeline = new Timeline(this.snapshot, find("plot"), find("overview"));
    this.details = new Details(this.snapshot, this.timeline, find("details"));
    this.#writeHead(find("program"), find("facts"), find("figures"));
    this.#writeLegend(find("legend"));
    this.#wire(find);
    this.#writeLists(document.querySelector("[role=tablist]"), find("lists"));
  }

  #writeHead(program, line, figures) {
    const { facts } = this.snapshot;
    program.textContent = facts.program;
    line.textContent = [
      facts.started.replace("T", " ").slice(0, 19), formatTime(this.snapshot.duration), plural(facts.threads.length, "thread"),
      `tensix ${facts.tensix}`, ...(facts.dropped ? [`${plural(facts.dropped, "event")} not kept`] : []),
    ].join(" · ");
    const { snapshot } = this;
    const sum = (moments) => formatSize(moments.reduce((bytes, moment) => bytes + moment.nbytes, 0));
    const tiles = [
      ["Peak", formatSize(snapshot.peak), `at ${formatTime(snapshot.peakTime)}`],
      ["Live at the end", formatSize(snapshot.liveAtEnd), plural(this.#alive().length, "block")],
      ["Allocated in total", formatSize(snapshot.total), plural(snapshot.count, "block")],
      ["Call sites", formatCount(snapshot.sites.length), plural(facts.allocators.length, "allocator")],
      ["Copies", formatCount(facts.copies.length), facts.copies.length ? `${sum(facts.copies)} at a first write` : "none at a first write"],
      ["Failures", formatCount(facts.failures.length), facts.failures.length ? "out of memory" : "all memory was had"],
    ];
    figures.append(...tiles.map(([name, value, note]) => make("div", { className: name === "Failures" && value !== "0" ? "bad" : "" },
      make("dt", {}, name), make("dd", { className: "value" }, value), make("dd", { className: "note" }, note))));
  }

  #alive() {
    return [...this.snapshot.byAllocation].filter((block) => this.snapshot.freed[block] === Infinity);
  }

  /** A button for each call site that has a colour of its own. */
  #writeLegend(legend) {
    const { timeline, snapshot } = this;
    const buttons = snapshot.sites.slice(0, PALETTE.length).map((site) => make("button", {
      type: "button", onclick: () => timeline.choose({ site: site === timeline.site ? null : site }),
    }, chip(site), snapshot.nameOfFrame(site.frame)));
    const mark = () => buttons.forEach((button, rank) => {
      button.setAttribute("aria-pressed", String(snapshot.sites[rank] === timeline.site));
    });
    timeline.addEventListener("choose", mark);
    mark();
    legend.append(...buttons.map((button) => make("li", {}, button)));
  }

  #wire(find) {
    const { timeline, snapshot } = this;
    find("zoom-in").onclick = () => timeline.zoomTime(0.5);
    find("zoom-out").onclick = () => timeline.zoomTime(2);
    find("fit").onclick = () => timeline.fit();
    find("go-to-peak").onclick = () => {
      const length = (timeline.view.t1 - timeline.view.t0) / 4;
      timeline.show({ ...timeline.whole, t0: snapshot.peakTime - length / 2, t1: snapshot.peakTime + length / 2 });
    };
    find("order").onchange = (event) => timeline.arrange(event.target.value);
    find("theme").onclick = () => this.#setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  }

  #setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
    this.timeline?.redraw();
  }

  #writeLists(bar, section) {
    const { snapshot, timeline } = this;
    const { copies, failures } = snapshot.facts;
    const alive = this.#alive();
    const lists = [
      ["Call sites", () => tableOfSites(snapshot, timeline)],
      ["Flame view", () => new Flame(snapshot, timeline)],
      [`Live at the end (${formatCount(alive.length)})`, () => tableOfBlocks(snapshot, timeline, alive)],
      [`Copies (${formatCount(copies.length)})`, () => tableOfMoments(snapshot, timeline, copies)],
      [`Failures (${formatCount(failures.length)})`, () => tableOfMoments(snapshot, timeline, failures)],
    ];
    const tabs = lists.map(([name, makeList], number) => {
      const panel = make("div", { id: `list-${number}`, role: "tabpanel", hidden: true });
      panel.setAttribute("aria-label", name);
      const tab = make("button", { type: "button", role: "tab", onclick: () => open(number) }, name);
      tab.setAttribute("aria-controls", panel.id);
      section.append(panel);
      return { tab, panel, makeList };
    });
    const open = (chosen) => tabs.forEach(({ tab, panel, makeList }, number) => {
      const isOpen = number === chosen;
      if (isOpen && !panel.firstChild) panel.append(makeList().element); // made when first opened
      panel.hidden = !isOpen;
      tab.setAttribute("aria-selected", String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
    });
    bar.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const now = tabs.findIndex(({ tab }) => tab === document.activeElement);
      const next = (now + step + tabs.length) % tabs.length;
      open(next);
      tabs[next].tab.focus();
    };
    bar.append(...tabs.map(({ tab }) => tab));
    open(0);
  }
}

const page = new Page(JSON.parse(document.getElementById("snapshot").textContent));
