/** What another snapshot has more or less of, call site by call site. */

/**
 * Return what says that two call sites of different runs are the same: file, function and the text of the line, for lines
 * move when a program is edited. Without the text it is the number. The command line does the same: `comparison.py`.
 */
function sameSite(snapshot, frame) {
  if (frame < 0) return "no Python frame";
  const { file, line, function: name } = snapshot.facts.frames[frame];
  return JSON.stringify([nameOfFile(file), name, snapshot.sourceOf(frame) || line]);
}

/** Return a row for each call site of one of the two, with the bytes here and there. */
function comparisonOf(here, there) {
  const rows = new Map();
  for (const [side, snapshot] of [["here", here], ["there", there]]) {
    for (const site of snapshot.sites) {
      const key = sameSite(snapshot, site.key);
      if (!rows.has(key)) {
        rows.set(key, { here: noBlocks(), there: noBlocks(), site: null, name: site.name, source: snapshot.sourceOf(site.key) });
      }
      const row = rows.get(key);
      for (const measure of Object.keys(MEASURES)) row[side][measure] += site[measure];
      if (side === "here") row.site ??= site;
    }
  }
  return [...rows.values()];
}

/** The tab in which a second snapshot is opened, by a button or by dropping its file on the page. */
class Comparison {
  constructor(timeline) {
    this.timeline = timeline;
    this.input = make("input", { type: "file", accept: ".json", id: "other-file", onchange: () => this.read(this.input.files[0]) });
    this.said = make("p", { className: "soft", role: "status" });
    this.table = make("div");
    this.element = make("div", {},
      make("div", { className: "bar" }, make("label", {}, "Compare with a snapshot saved as .json ", this.input)), this.said, this.table);
    this.#say("Open the snapshot of another run, or drop its file anywhere on this page.");
  }

  /** Read a file that was chosen or dropped. */
  async read(file) {
    if (!file) return;
    try {
      const facts = JSON.parse(await file.text());
      if (facts?.format !== "tensix memory snapshot") throw new Error("it is not a memory snapshot");
      this.show(facts, file.name);
    } catch (error) {
      this.table.replaceChildren();
      this.#say(`${file.name} cannot be read: ${error.message}.`);
    }
  }

  /** Show how this snapshot differs from another one. */
  show(facts, name) {
    this.shown = [facts, name]; // to be shown again in other colours
    const here = this.timeline.snapshot;
    const there = new Snapshot([...processesOf(facts).values()][0]);
    const whole = (measure) => ({ peak: [here.peak, there.peak], total: [here.total, there.total], live: [here.liveAtEnd, there.liveAtEnd] }[measure]);
    this.#say(`Here, against ${name} (${facts.program}, ${facts.started.replace("T", " ").slice(0, 19)}): `
      + `${Object.entries(MEASURES).map(([measure, words]) => `${signedSize(whole(measure)[0] - whole(measure)[1])} ${words}`).join(", ")}.`);
    const rows = comparisonOf(here, there);
    rows.sort((one, other) => Math.abs(other.here.total - other.there.total) - Math.abs(one.here.total - one.there.total));
    const columns = Object.entries(MEASURES).map(([measure, words]) => ({
      name: words, isNumber: true,
      of: (row) => Math.abs(row.here[measure] - row.there[measure]),
      text: (row) => differenceOf(row.there[measure], row.here[measure]),
    }));
    const table = new Table([
      nameColumn("call site", (row) => row.name, {
        chipOf: (row) => (this.timeline.grouping.by === "site" ? row.site : null), sourceOf: (row) => row.source,
        choose: (row) => { if (row.site && this.timeline.grouping.by === "site") this.timeline.choose({ group: row.site }); },
      }),
      ...columns,
    ], rows, { sortBy: MEASURES.peak, empty: "Neither has a block." });
    this.table.replaceChildren(table.element);
  }

  #say(text) {
    this.said.textContent = text;
  }
}

function differenceOf(there, here) {
  if (there === here) return make("span", { className: "soft" }, `same, ${formatSize(here)}`);
  return make("div", {}, make("div", {}, signedSize(here - there)),
    make("div", { className: "soft note" }, `${formatSize(there)} → ${formatSize(here)}`));
}

function signedSize(bytes) {
  return `${bytes > 0 ? "+" : bytes < 0 ? "−" : ""}${formatSize(Math.abs(bytes))}`;
}
