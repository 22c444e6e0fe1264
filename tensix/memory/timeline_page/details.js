/** The panel beside the timeline: everything known of the chosen block or call site. */

class Details {
  constructor(snapshot, timeline, panel) {
    Object.assign(this, { snapshot, timeline, panel });
    timeline.addEventListener("choose", () => this.show());
    this.show();
  }

  show() {
    const { block, site } = this.timeline;
    this.panel.replaceChildren(...(block >= 0 ? this.#ofBlock(block) : site ? this.#ofSite(site) : this.#ofNothing()));
    this.panel.scrollTop = 0;
  }

  #ofBlock(block) {
    const { snapshot, timeline } = this;
    const { facts } = snapshot;
    const isAlive = snapshot.freed[block] === Infinity;
    const stack = snapshot.stackOf(block);
    const button = (text, act) => make("button", { type: "button", onclick: act }, text);
    return [
      make("h2", {}, chip(stack.site), `Block of ${formatSize(snapshot.nbytes[block])}`),
      listOfFacts([
        ["call site", siteName(snapshot, stack.site)],
        ["size", sizeInFull(snapshot.nbytes[block])],
        ["lifetime", lifeOf(snapshot, block)],
        ["allocated", `at ${formatTime(snapshot.allocated[block])}`],
        ["freed", isAlive ? "not before the end" : `at ${formatTime(snapshot.freed[block])}`],
        ["at the peak", snapshot.isAliveAt(block, snapshot.peakEvent) ? "alive" : "not alive"],
        ["thread", facts.threads[facts.blocks.thread[block]]],
        ["allocator", facts.allocators[facts.blocks.allocator[block]]],
        ["address", `0x${facts.blocks.address[block].toString(16)}`],
        ["held by", holdersOf(snapshot, block)],
      ]),
      make("h3", {}, "Stack, innermost first"),
      stackList(snapshot, stack),
      make("div", { className: "buttons" },
        button("Zoom to it", () => timeline.zoomToBlock(block)),
        button("Previous", () => timeline.chooseNeighbour(-1)),
        button("Next", () => timeline.chooseNeighbour(1)),
        button("Whole call site", () => timeline.choose({ site: stack.site })),
        button("Close", () => timeline.choose({})),
      ),
    ];
  }

  #ofSite(site) {
    const { snapshot, timeline } = this;
    const stacks = [...site.stacks].sort((one, other) => other.peak - one.peak || other.total - one.total);
    const shown = stacks.filter((stack) => stack.count).slice(0, 8);
    return [
      make("h2", {}, chip(site), "Call site"),
      listOfFacts([
        ["line", siteName(snapshot, site)],
        ["at the peak", formatSize(site.peak)],
        ["in total", formatSize(site.total)],
        ["live at the end", formatSize(site.live)],
        ["blocks", formatCount(site.count)],
        ["largest", formatSize(site.largest)],
        ["mean lifetime", formatTime(site.life / site.count)],
      ]),
      ...shown.flatMap((stack) => [
        make("h3", {}, `${plural(stack.count, "block")} by this stack, ${formatSize(stack.total)}`),
        stackList(snapshot, stack),
      ]),
      ...(shown.length < stacks.length ? [make("h3", {}, `and ${plural(stacks.length - shown.length, "stack")} more`)] : []),
      make("div", { className: "buttons" }, make("button", { type: "button", onclick: () => timeline.choose({}) }, "Close")),
    ];
  }

  #ofNothing() {
    return [
      make("h2", {}, "Nothing chosen"),
      make("p", { className: "soft" },
        "Click a band of the picture to see the block: who asked for it, how large it is, how long it lives and who holds it. "
        + "Click a call site to see its blocks alone."),
    ];
  }
}

function chip(site) {
  const mark = make("span", { className: "chip" });
  mark.style.background = cssOf(colourOfSite(site.rank));
  return mark;
}

function siteName(snapshot, site) {
  return make("span", { className: "site" }, snapshot.nameOfFrame(site.frame));
}

function sizeInFull(bytes) {
  return bytes <= 1024 ? formatSize(bytes) : `${formatSize(bytes)} (${formatCount(bytes)} bytes)`;
}

function holdersOf(snapshot, block) {
  const holders = snapshot.holders.get(block);
  if (holders) return make("div", {}, ...holders.map((text) => make("div", {}, text)));
  return snapshot.freed[block] === Infinity ? "no tensor that Python can see" : "nothing, it was freed";
}

/** Return a definition list; what is said may be text or an element. */
function listOfFacts(facts) {
  return make("dl", {}, ...facts.flatMap(([name, said]) => [make("dt", {}, name), make("dd", {}, said)]));
}

function stackList(snapshot, stack) {
  const frames = stack.frames.length ? stack.frames : [-1];
  return make("ol", { className: "site" }, ...frames.map((frame) => make("li", {},
    frame < 0 ? "no Python frame" : make("strong", {}, snapshot.facts.frames[frame].function),
    frame < 0 ? "" : make("div", { className: "soft" }, `${snapshot.facts.frames[frame].file}:${snapshot.facts.frames[frame].line}`),
  )));
}
