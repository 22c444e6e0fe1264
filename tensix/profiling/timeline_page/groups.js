/** What tells blocks apart: by it they are coloured, stacked, and listed in the first table. */

/**
 * A key for each stack or for each block, and the name of a key, by default itself. `many` is the name of the table,
 * `isKnown` whether the snapshot says it at all.
 */
const GROUPINGS = {
  site: {
    one: "call site", many: "Call sites",
    keyOfStack: (snapshot) => (stack) => stack.line,
    nameOf: (snapshot, frame) => snapshot.nameOfFrame(frame),
  },
  caller: {
    one: "caller", many: "Callers",
    keyOfStack: callerOfStack,
    nameOf: (snapshot, frame) => snapshot.nameOfFrame(frame),
  },
  stack: {
    one: "stack", many: "Stacks",
    keyOfStack: () => (stack) => stack.number,
    nameOf: (snapshot, number) => {
      const { frames, line } = snapshot.stacks[number];
      const outwards = frames.slice(frames.indexOf(line), frames.indexOf(line) + 3);
      return outwards.length ? outwards.map((frame) => snapshot.nameOfFrame(frame)).join(" ← ") : snapshot.nameOfFrame(-1);
    },
  },
  library: {
    one: "library", many: "Libraries",
    keyOfStack: ({ facts }) => (stack) => (stack.frames.length ? libraryOf(facts.frames[stack.frames[0]].file) : "no Python frame"),
  },
  thread: {
    one: "thread", many: "Threads",
    keyOfBlock: ({ facts }) => (block) => facts.threads[facts.blocks.thread[block]],
  },
  allocator: {
    one: "allocator", many: "Allocators",
    keyOfBlock: ({ facts }) => (block) => facts.blocks.allocator[block],
    nameOf: ({ facts }, number) => facts.allocators[number],
  },
  process: {
    one: "process", many: "Processes",
    isKnown: ({ blocks }) => Boolean(blocks.process),
    keyOfBlock: ({ facts }) => (block) => facts.blocks.process[block],
    nameOf: ({ facts }, number) => facts.processNames[number],
  },
  task: {
    one: "task", many: "Tasks",
    isKnown: ({ blocks }) => Boolean(blocks.task),
    keyOfBlock: ({ facts }) => (block) => facts.tasks[facts.blocks.task[block]]?.key ?? null,
    nameOf: (snapshot, key) => key ?? "between tasks",
  },
  kind: {
    one: "kind", many: "Kinds",
    isKnown: ({ blocks }) => Boolean(blocks.kind),
    keyOfBlock: ({ facts }) => (block) => facts.blocks.kind[block],
    nameOf: (snapshot, kind) => ["tensix's block", "NumPy's array", "PyTorch's tensor", "another library's block"][kind],
  },
};

/** The blocks in groups, those with most at the peak first: a group's place among them is its rank. */
class Grouping {
  constructor(snapshot, by) {
    const { keyOfStack, keyOfBlock, nameOf = (_, name) => name, one, many } = GROUPINGS[by];
    Object.assign(this, { by, one, many, isByStack: Boolean(keyOfStack) });
    const keys = keyOfStack && snapshot.stacks.map(keyOfStack(snapshot));
    const keyOf = keyOfBlock?.(snapshot) ?? ((block) => keys[snapshot.stackOfBlock[block]]);
    const found = new Map();
    const groupOfBlock = new Array(snapshot.count);
    for (let block = 0; block < snapshot.count; block++) {
      const key = keyOf(block);
      let group = found.get(key);
      if (!group) found.set(key, (group = { key, by, one, name: nameOf(snapshot, key), firstBlock: block, stacks: new Set(), ...noBlocks() }));
      addTo(group, snapshot, block);
      group.stacks.add(snapshot.stackOf(block));
      groupOfBlock[block] = group;
    }
    this.groups = [...found.values()].sort((one, other) => other.peak - one.peak || other.total - one.total);
    this.groups.forEach((group, rank) => { group.rank = rank; });
    this.rankOfBlock = Uint32Array.from(groupOfBlock, (group) => group.rank);
  }

  groupOf(block) {
    return this.groups[this.rankOfBlock[block]];
  }
}

/**
 * Return what says of a stack who called: the first line outwards from its call site at which the stacks of that call
 * site differ. A program that allocates through one helper, or through a helper's helper, is distinguished by it.
 */
function callerOfStack(snapshot) {
  const outwards = ({ frames, line }, depth) => frames[frames.indexOf(line) + depth] ?? -1;
  const stacksOfLine = new Map();
  for (const stack of snapshot.stacks.filter(({ count }) => count)) {
    if (!stacksOfLine.has(stack.line)) stacksOfLine.set(stack.line, []);
    stacksOfLine.get(stack.line).push(stack);
  }
  const depthOfLine = new Map();
  for (const [line, stacks] of stacksOfLine) {
    const longest = stacks.reduce((most, { frames }) => Math.max(most, frames.length), 0);
    let depth = 0;
    while (depth < longest && stacks.every((stack) => outwards(stack, depth) === outwards(stacks[0], depth))) depth++;
    depthOfLine.set(line, depth < longest ? depth : 0);
  }
  return (stack) => {
    const caller = outwards(stack, depthOfLine.get(stack.line) ?? 0);
    return caller < 0 ? stack.line : caller; // called by no further line: it is itself the outermost
  };
}

/** Return the package that a file was installed with, or the file's name. */
function libraryOf(file) {
  const parts = file.split(/[\\/]/);
  const installed = parts.findLastIndex((part) => part === "site-packages" || part === "dist-packages");
  if (installed >= 0 && installed + 1 < parts.length) return parts[installed + 1].replace(/\.py$/, "");
  const standard = parts.findIndex((part) => /^python3\.\d+$/.test(part));
  return standard >= 0 && standard + 1 < parts.length ? `${parts[standard + 1].replace(/\.py$/, "")} (Python)` : parts.at(-1);
}

/** Return the grouping to begin with: call sites, unless nearly all at the peak is of one and its callers tell more. */
function bestGrouping(snapshot) {
  const shareOfFirst = (by) => (snapshot.groupedBy(by).groups[0]?.peak ?? 0) / Math.max(snapshot.peak, 1);
  const share = shareOfFirst("site");
  return share > 0.75 && shareOfFirst("caller") < 0.9 * share ? "caller" : "site";
}

/**
 * Return for each block whether the words of a search are in its stack, or in the name of its thread or allocator;
 * null where nothing is searched for.
 */
function blocksWith(snapshot, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const { facts } = snapshot;
  const hasWords = (place) => words.every((word) => place.toLowerCase().includes(word));
  const ofStack = snapshot.stacks.map(({ frames }) => hasWords(frames.map((frame) => {
    const { file, line, function: name, source } = facts.frames[frame];
    return `${file}:${line} ${name} ${source ?? ""}`;
  }).join("\n")));
  const ofThread = facts.threads.map(hasWords);
  const ofAllocator = facts.allocators.map(hasWords);
  return Uint8Array.from(snapshot.nbytes, (_, block) => ofStack[snapshot.stackOfBlock[block]]
    || ofThread[facts.blocks.thread[block]] || ofAllocator[facts.blocks.allocator[block]]);
}
