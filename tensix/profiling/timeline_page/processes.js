/** The recordings of the processes that a program started, and the sum of them all over time. */

const ALL = "all";

/** Return the choices of a snapshot's page: name -> facts. A program of one process has one. */
function processesOf(facts) {
  const { processes = [], ...main } = facts;
  if (!processes.length) return new Map([["this process", main]]);
  const nameOf = ({ name, pid, ended }) => [name, `pid ${pid}`, ...(ended === false ? ["killed"] : [])].join(", ");
  const parts = [["the program's process", main], ...processes.map((child) => [nameOf(child), child])];
  return new Map([[ALL, joined(parts)], ...parts]);
}

/**
 * Return one snapshot of many: blocks side by side on the time of the first, frames and stacks that are the same once.
 *
 * What a process still had when it ended went with it, so in the sum it is freed then.
 */
function joined(parts) {
  const main = parts[0][1];
  const blocks = { process: [] };
  const all = { ...main, blocks, frames: [], stacks: [], call_sites: [], allocators: [], threads: [], holders: [], copies: [], failures: [],
    advice: [], marks: [], tasks: [], dropped: 0, left_out: 0, blocks_left_out: 0, processNames: parts.map(([name]) => name) };
  const numbers = new Map();
  const numberOf = (list, value) => {
    const text = JSON.stringify(value);
    if (!numbers.has(text)) numbers.set(text, list.push(value) - 1);
    return numbers.get(text);
  };
  all.duration_ns = Math.max(...parts.map(([, part]) => part.duration_ns + (part.offset_ns ?? 0)));
  const columns = new Set(parts.flatMap(([, part]) => Object.keys(part.blocks)));
  for (const column of columns) blocks[column] ??= [];
  parts.forEach(([, part], process) => {
    const shift = part.offset_ns ?? 0;
    const end = part.duration_ns + shift;
    const hasEnded = process > 0 && end < all.duration_ns;
    const first = { block: blocks.process.length, thread: all.threads.length, allocator: all.allocators.length, task: all.tasks.length };
    const frames = part.frames.map((frame) => numberOf(all.frames, frame));
    const stacks = part.stacks.map((stack, number) => {
      const known = numberOf(all.stacks, stack.map((frame) => frames[frame]));
      all.call_sites[known] ??= frames[part.call_sites[number]] ?? null;
      return known;
    });
    const changes = {
      stack: (stack) => stacks[stack], thread: (thread) => thread + first.thread, allocator: (one) => one + first.allocator,
      task: (task) => (task === null ? null : task + first.task),
      allocated_ns: (time) => time + shift, freed_ns: (time) => (time === null ? (hasEnded ? end : null) : time + shift),
      last_used_ns: (time) => (time === null ? null : time + shift), last_written_ns: (time) => (time === null ? null : time + shift),
    };
    const count = part.blocks.nbytes.length;
    for (const column of columns) {
      const [values, change] = [part.blocks[column], changes[column] ?? ((value) => value)];
      for (let block = 0; block < count; block++) blocks[column].push(values ? change(values[block]) : null);
    }
    for (let block = 0; block < count; block++) blocks.process.push(process);
    all.threads.push(...part.threads);
    all.allocators.push(...part.allocators);
    all.tasks.push(...part.tasks ?? []);
    for (const list of ["copies", "failures"]) {
      for (const one of part[list]) all[list].push({ ...one, time_ns: one.time_ns + shift, stack: stacks[one.stack] });
    }
    for (const one of part.marks ?? []) all.marks.push({ ...one, time_ns: one.time_ns + shift });
    for (const { block, text } of part.holders) all.holders.push({ block: block + first.block, text });
    for (const one of part.advice ?? []) all.advice.push({ ...one, blocks: one.blocks.map((block) => block + first.block) });
    all.dropped += part.dropped;
    all.left_out += part.left_out ?? 0;
    all.blocks_left_out += part.blocks_left_out ?? 0;
  });
  all.marks.sort((one, other) => one.time_ns - other.time_ns);
  if (!parts.some(([, part]) => part.advice)) delete all.advice;
  all.resident = residentOfAll(parts.map(([, part]) => part));
  return all;
}

/** Return the resident memory of processes together, at every moment at which one of them was asked. */
function residentOfAll(parts) {
  const columns = ["nbytes", "cached", "recording", ...PARTS.map(([, , name]) => name)].filter((name) => parts.some(({ resident }) => resident?.[name]));
  const samples = parts.flatMap(({ resident, offset_ns: shift = 0, duration_ns: duration }, process) => (resident ? [
    ...resident.time_ns.map((time, sample) => [time + shift, process, columns.map((name) => resident[name]?.[sample] ?? 0)]),
    ...(process ? [[shift + duration, process, columns.map(() => 0)]] : []), // a child that ended has none
  ] : [])).sort(([one], [other]) => one - other);
  if (!samples.length) return undefined;
  const latest = parts.map(() => columns.map(() => 0));
  const sums = columns.map(() => 0);
  const all = { time_ns: samples.map(([time]) => time), ...Object.fromEntries(columns.map((name) => [name, []])) };
  for (const [, process, values] of samples) {
    columns.forEach((name, column) => {
      sums[column] += values[column] - latest[process][column];
      all[name].push(sums[column]);
    });
    latest[process] = values;
  }
  return all;
}
