/** The panel beside the timeline: everything known of the chosen block or group. */

const STACKS_SHOWN = 8;

class Details {
  constructor(timeline, panel) {
    Object.assign(this, { timeline, panel });
    timeline.addEventListener("choose", () => this.show());
  }

  show() {
    const { block, group } = this.timeline;
    const focused = this.panel.contains(document.activeElement) ? document.activeElement.textContent : null;
    this.panel.replaceChildren(...(block >= 0 ? this.#ofBlock(block) : group ? this.#ofGroup(group) : this.#ofNothing()));
    this.panel.scrollTop = 0;
    // Who goes on by the keyboard stays on the same button, which is a new one now.
    if (focused) ([...this.panel.querySelectorAll("button")].find((one) => one.textContent === focused) ?? this.panel).focus();
  }

  #ofBlock(block) {
    const { timeline } = this;
    const { snapshot } = timeline;
    const { facts } = snapshot;
    const isAlive = snapshot.freed[block] === Infinity;
    const stack = snapshot.stackOf(block);
    const group = timeline.grouping.groupOf(block);
    return [
      this.#head([chip(group), `Block of ${formatSize(snapshot.nbytes[block])}`], [
        ["Zoom to it", () => timeline.zoomToBlock(block)],
        ["Previous", () => timeline.chooseNeighbour(-1)],
        ["Next", () => timeline.chooseNeighbour(1)],
        [`Whole ${group.one}`, () => timeline.choose({ group })],
        ["Close", () => timeline.choose({})],
      ]),
      listOfFacts([
        ["call site", make("div", {}, ...lineWithSource(snapshot, stack.line))],
        ["size", sizeInFull(snapshot.nbytes[block])],
        ["lifetime", lifeOf(snapshot, block)],
        ["allocated", `at ${formatTime(snapshot.allocated[block])}`],
        ["freed", isAlive ? "not before the end" : `at ${formatTime(snapshot.freed[block])}`],
        ...factsOfUse(snapshot, block),
        ["at the peak", snapshot.isAliveAt(block, snapshot.peakEvent) ? "alive" : "not alive"],
        ...(facts.blocks.process ? [["process", facts.processNames[facts.blocks.process[block]]]] : []),
        ["thread", facts.threads[facts.blocks.thread[block]]],
        ["allocator", facts.allocators[facts.blocks.allocator[block]]],
        ["address", `0x${facts.blocks.address[block].toString(16)}`],
        ["held by", holdersOf(snapshot, block)],
      ]),
      make("h3", {}, "Stack, innermost first"),
      stackList(snapshot, stack),
    ];
  }

  #ofGroup(group) {
    const { timeline } = this;
    const { snapshot } = timeline;
    const stacks = [...group.stacks].sort((one, other) => other.peak - one.peak || other.total - one.total);
    const shown = stacks.slice(0, STACKS_SHOWN);
    return [
      this.#head([chip(group), capitalised(group.one)], [["Close", () => timeline.choose({})]]),
      listOfFacts([
        [group.by === "site" ? "line" : group.one, nameWithSource(snapshot, group)],
        ...Object.entries(MEASURES).map(([measure, name]) => [name, formatSize(group[measure])]),
        ["blocks", formatCount(group.count)],
        ["largest", formatSize(group.largest)],
        ["mean lifetime", formatTime(group.life / group.count)],
      ]),
      ...shown.flatMap((stack) => [
        make("h3", {}, `${plural(stack.count, "block")} by this stack, ${formatSize(stack.total)}`),
        stackList(snapshot, stack),
      ]),
      ...(shown.length < stacks.length ? [make("h3", {}, `and ${plural(stacks.length - shown.length, "stack")} more`)] : []),
    ];
  }

  #ofNothing() {
    return [
      this.#head(["Nothing chosen"], []),
      make("p", { className: "soft" },
        "Click a band to see its block: the line that allocated it, its size, its lifetime and what refers to it. "
        + "Click a name below the picture to see only its blocks."),
    ];
  }

  /** Return title and buttons, which stay in sight while the rest scrolls. */
  #head(title, buttons) {
    return make("div", { className: "head" }, make("h2", {}, ...title),
      make("div", { className: "buttons" }, ...buttons.map(([text, act]) => make("button", { type: "button", onclick: act }, text))));
  }
}

function capitalised(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function chip(group) {
  const mark = make("span", { className: "chip" });
  mark.style.background = cssOf(colourOfGroup(group));
  return mark;
}

/** Return a frame's name and, where the snapshot has it, the text of its line. */
function lineWithSource(snapshot, frame) {
  return [make("div", { className: "site" }, snapshot.nameOfFrame(frame)), ...sourceText(snapshot.sourceOf(frame))];
}

/** Return the text of a line, in a list; an empty one without text. */
function sourceText(text) {
  return text ? [make("code", { className: "source" }, text)] : [];
}

/** Return the name of a group; one that is named after a line has the text of that line with it. */
function nameWithSource(snapshot, group) {
  return group.by === "site" || group.by === "caller"
    ? make("div", {}, ...lineWithSource(snapshot, group.key)) : make("span", { className: "site" }, group.name);
}

function sizeInFull(bytes) {
  return bytes <= 1024 ? formatSize(bytes) : `${formatSize(bytes)} (${formatCount(bytes)} bytes)`;
}

/** Return when a block was read or written for the last time, where that is known, and how long it then lay idle. */
function factsOfUse(snapshot, block) {
  const { kind, last_used_ns: used, last_written_ns: written } = snapshot.facts.blocks;
  const idle = snapshot.idleOf(block);
  if (kind?.[block]) return [["last used", `not known: reads of ${kind[block] === NATIVE ? "other libraries' blocks" : "NumPy's arrays and PyTorch's tensors"} are not seen`]];
  return [
    ...(idle === null ? [] : [["last used", `at ${formatTime(used[block])}, idle for ${formatTime(idle)}`]]),
    ...(Number.isFinite(written?.[block]) ? [["last written", `at ${formatTime(written[block])}`]] : []),
  ];
}

function holdersOf(snapshot, block) {
  const holders = snapshot.holders.get(block);
  if (holders) return make("div", {}, ...holders.map((text) => make("div", {}, text)));
  if (snapshot.freed[block] !== Infinity) return "nothing, it was freed";
  const { left_out: leftOut, blocks_left_out: blocksLeftOut } = snapshot.facts;
  if (blocksLeftOut) return `nothing that was found: the search left ${plural(blocksLeftOut, "block")} out, the smallest`;
  return leftOut ? `nothing that was found: the search left ${plural(leftOut, "object")} out` : "nothing that Python can see";
}

/** Return a definition list; what is said may be text or an element. */
function listOfFacts(facts) {
  return make("dl", {}, ...facts.flatMap(([name, said]) => [make("dt", {}, name), make("dd", {}, said)]));
}

/** Return the frames of a stack; those inside libraries that are looked through are soft, the call site is marked. */
function stackList(snapshot, stack) {
  if (!stack.frames.length) return make("ol", { className: "site" }, make("li", {}, "no Python frame"));
  return make("ol", { className: "site" }, ...stack.frames.map((frame, depth) => {
    const { file, line, function: name } = snapshot.facts.frames[frame];
    const isInside = depth < stack.frames.indexOf(stack.line);
    return make("li", { className: isInside ? "soft" : "" }, make("strong", {}, name), make("div", { className: "soft" }, `${file}:${line}`),
      ...sourceText(snapshot.sourceOf(frame)));
  }));
}
