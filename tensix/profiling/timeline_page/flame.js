/** The flame view: call stacks from the outermost frame down, each as wide as the bytes asked for under it. */

const FLAME_ROW = 22;

class Flame {
  constructor(timeline) {
    Object.assign(this, { snapshot: timeline.snapshot, timeline, measure: "peak" });
    this.rows = make("div", { id: "flame-rows" });
    this.text = make("p", { id: "flame-text" });
    const choice = make("select", { id: "measure", onchange: () => this.show(choice.value) },
      ...Object.entries(MEASURES).map(([value, name]) => make("option", { value }, name)));
    this.element = make("div", {}, make("div", { className: "bar" }, make("label", {}, "Bytes ", choice)), this.rows, this.text);
    this.show("peak");
  }

  show(measure) {
    this.measure = measure;
    this.fill();
  }

  /** Draw again, from the stacks that a search found. */
  fill() {
    this.root = treeOfStacks(this.snapshot, this.measure, this.timeline.foundStacks);
    this.#draw(this.root);
  }

  /** Return the group whose colour a stack has, and that a click on it chooses. */
  #groupOf(stack) {
    const { grouping } = this.timeline;
    const by = grouping.isByStack ? grouping : this.snapshot.groupedBy("site");
    return by.groups.find((group) => group.stacks.has(stack));
  }

  /** Draw a node as wide as the view, the frames above it over it and those below it under it. */
  #draw(top) {
    const above = [];
    for (let node = top.parent; node; node = node.parent) above.unshift(node);
    const buttons = above.map((node, depth) => this.#button(node, depth, 0, 1, "above"));
    let depth = above.length;
    for (let row = top.bytes ? [[top, 0]] : []; row.length; depth++) {
      const next = [];
      for (const [node, left] of row) {
        const width = node.bytes / top.bytes;
        buttons.push(this.#button(node, depth, left, width, node.isLeaf ? "leaf" : ""));
        let start = left;
        for (const child of node.children.values()) {
          // What is thinner than a pixel or so cannot be seen, nor pressed.
          if (child.bytes / top.bytes > 0.0008) next.push([child, start]);
          start += child.bytes / top.bytes;
        }
      }
      row = next;
    }
    this.rows.replaceChildren(...buttons);
    this.rows.style.height = `${depth * FLAME_ROW}px`;
    this.#say(top);
  }

  #button(node, depth, left, width, className) {
    const name = node.frame === null ? "everything" : this.snapshot.nameOfFrame(node.frame);
    const label = `${name}, ${formatSize(node.bytes)}`;
    const button = make("button", { type: "button", className, "aria-label": label }, width > 0.02 ? name : "");
    Object.assign(button.style, { left: `${left * 100}%`, width: `${width * 100}%`, top: `${depth * FLAME_ROW}px` });
    if (node.isLeaf) button.style.background = cssOf(colourOfGroup(this.#groupOf(node.stack)));
    button.onpointerenter = button.onfocus = () => this.#say(node);
    button.onclick = () => {
      this.#draw(node);
      this.rows.children[depth]?.focus();
      const group = node.isLeaf ? this.#groupOf(node.stack) : null;
      if (group?.by === this.timeline.grouping.by) this.timeline.choose({ group });
    };
    return button;
  }

  #say(node) {
    const whole = this.root.bytes;
    if (!whole) {
      this.text.textContent = `No bytes ${MEASURES[this.measure]}.`;
      return;
    }
    const frame = node.frame === null || node.frame < 0 ? null : this.snapshot.facts.frames[node.frame];
    const where = frame ? `${frame.function}, ${frame.file}:${frame.line}` : node.frame === null ? "everything" : "no Python frame";
    this.text.textContent = `${formatSize(node.bytes)} ${MEASURES[this.measure]}, ${((100 * node.bytes) / whole).toFixed(1)} % · ${where}`;
    if (frame) this.text.append(...sourceText(this.snapshot.sourceOf(node.frame)));
  }
}

/** Return the root of the tree of all stacks or of those found; the children of a node are the frames it called. */
function treeOfStacks(snapshot, measure, found) {
  const nodeOf = (frame, parent) => ({ frame, parent, bytes: 0, children: new Map(), isLeaf: false });
  const root = nodeOf(null, null);
  for (const stack of snapshot.stacks) {
    if (!stack[measure] || (found && !found.has(stack))) continue;
    root.bytes += stack[measure];
    let node = root;
    for (const frame of stack.frames.length ? [...stack.frames].reverse() : [-1]) {
      if (!node.children.has(frame)) node.children.set(frame, nodeOf(frame, node));
      node = node.children.get(frame);
      node.bytes += stack[measure];
    }
    node.isLeaf = true;
    node.stack = stack;
  }
  const sort = [root]; // the largest first
  for (const node of sort) {
    const children = [...node.children].sort(([, one], [, other]) => other.bytes - one.bytes);
    node.children = new Map(children);
    sort.push(...node.children.values());
  }
  return root;
}
