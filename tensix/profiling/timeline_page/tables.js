/** Tables whose columns sort by a click, and that grow by pages, so that a hundred thousand rows cost nothing. */

const ROWS_AT_A_TIME = 200;
const BLOCKS_OF_ADVICE = 6; // buttons at most

/**
 * A column has a name, `of` (the value of a row, by which it sorts), `text` (what is shown: text or an element), and
 * `isNumber`. Numbers sort with the largest first. `isShown` says of a row whether a search found it.
 */
class Table {
  constructor(columns, rows, { sortBy = null, isChosen = () => false, isShown = () => true, empty = "Nothing." } = {}) {
    Object.assign(this, { columns, rows, isChosen, isShown, empty, shown: ROWS_AT_A_TIME });
    this.heads = columns.map((column) => make("th", { scope: "col", className: column.isNumber ? "number" : "" },
      make("button", { type: "button", onclick: () => this.sort(column) }, column.name)));
    this.body = make("tbody");
    this.more = make("button", { type: "button", className: "more", onclick: () => { this.shown += 5 * ROWS_AT_A_TIME; this.fill(); } });
    this.element = make("div", {},
      make("div", { className: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...this.heads)), this.body)),
      this.more);
    if (sortBy) this.sort(columns.find((column) => column.name === sortBy));
    else this.fill();
  }

  sort(column) {
    const isAgain = this.sorted === column;
    this.isDown = isAgain ? !this.isDown : Boolean(column.isNumber);
    this.sorted = column;
    const sign = this.isDown ? -1 : 1;
    const keyed = this.rows.map((row) => [column.of(row), row]); // asked for once: a name takes long to make
    keyed.sort(([one], [other]) => (one < other ? -sign : one > other ? sign : 0));
    this.rows = keyed.map(([, row]) => row);
    this.heads.forEach((head, number) => {
      if (this.columns[number] === column) head.setAttribute("aria-sort", this.isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.fill();
  }

  fill() {
    const found = this.rows.filter(this.isShown);
    this.filled = found.slice(0, this.shown);
    const rows = this.filled.map((row) => make("tr", {},
      ...this.columns.map((column) => make("td", { className: column.isNumber ? "number" : "" }, column.text(row)))));
    const said = this.rows.length ? "The search found nothing here." : this.empty;
    const none = make("tr", {}, make("td", { colSpan: this.columns.length, className: "soft" }, said));
    this.body.replaceChildren(...(rows.length ? rows : [none]));
    this.mark();
    const left = found.length - rows.length;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show more of ${formatCount(left)} further rows`;
  }

  /** Mark the rows of what is chosen; they stay the same rows, so that the keyboard's focus stays where it is. */
  mark() {
    this.filled.forEach((row, number) => { this.body.children[number].className = this.isChosen(row) ? "chosen" : ""; });
  }
}

function sizeColumn(name, of, most = 0) {
  const text = (row) => {
    const shown = make("span", {}, formatSize(of(row)));
    if (most > 0) {
      const share = make("span", { className: "share" });
      share.style.width = `${(100 * of(row)) / most}%`;
      shown.append(share);
    }
    return shown;
  };
  return { name, of, text, isNumber: true };
}

function timeColumn(name, of) {
  return { name, of, text: (row) => formatTime(of(row)), isNumber: true };
}

/** Return a column of names that are buttons, each with the text of its line where there is one. */
function nameColumn(name, of, { chipOf, sourceOf = () => "", choose }) {
  return {
    name, of,
    text: (row) => make("div", { className: "line" },
      make("button", { type: "button", className: "site", onclick: () => choose(row) }, ...(chipOf?.(row) ? [chip(chipOf(row))] : []), of(row)),
      ...sourceText(sourceOf(row))),
  };
}

/** Return the table of the groups by which the timeline is coloured. */
function tableOfGroups(timeline) {
  const { snapshot, grouping } = timeline;
  const { groups } = grouping;
  const most = (measure) => groups.reduce((largest, group) => Math.max(largest, group[measure]), 0);
  const hasLine = grouping.by === "site" || grouping.by === "caller";
  return new Table([
    nameColumn(grouping.one, (group) => group.name, {
      chipOf: (group) => group,
      sourceOf: (group) => (hasLine ? snapshot.sourceOf(group.key) : ""),
      choose: (group) => timeline.choose({ group: group === timeline.group ? null : group }),
    }),
    ...Object.entries(MEASURES).map(([measure, name]) => sizeColumn(name, (group) => group[measure], most(measure))),
    { name: "blocks", of: (group) => group.count, text: (group) => formatCount(group.count), isNumber: true },
    sizeColumn("largest", (group) => group.largest),
    timeColumn("mean lifetime", (group) => group.life / group.count),
  ], groups, {
    sortBy: "at the peak", isChosen: (group) => group === timeline.group, empty: "No block was recorded.",
    isShown: (group) => timeline.foundRanks === null || timeline.foundRanks.has(group.rank),
  });
}

function tableOfBlocks(timeline, blocks) {
  const { snapshot } = timeline;
  return new Table([
    nameColumn("call site", (block) => snapshot.nameOfFrame(snapshot.stackOf(block).line), {
      chipOf: (block) => timeline.grouping.groupOf(block),
      sourceOf: (block) => snapshot.sourceOf(snapshot.stackOf(block).line),
      choose: (block) => timeline.choose({ block }),
    }),
    sizeColumn("size", (block) => snapshot.nbytes[block]),
    timeColumn("allocated at", (block) => snapshot.allocated[block]),
    { name: "held by", of: (block) => (snapshot.holders.get(block) ?? []).join(), text: (block) => holdersOf(snapshot, block) },
  ], blocks, {
    sortBy: "size", isChosen: (block) => block === timeline.block, empty: "Every block was freed.",
    isShown: (block) => timeline.shown === null || timeline.shown[block],
  });
}

/** Copies or failures: moments with a size and a stack. */
function tableOfMoments(timeline, moments, empty) {
  const { snapshot } = timeline;
  const lineOf = (moment) => snapshot.stacks[moment.stack].line;
  const siteOf = (moment) => snapshot.sites.find((site) => site.key === lineOf(moment));
  return new Table([
    nameColumn("call site", (moment) => snapshot.nameOfFrame(lineOf(moment)), {
      sourceOf: (moment) => snapshot.sourceOf(lineOf(moment)),
      choose: (moment) => {
        const length = timeline.view.t1 - timeline.view.t0;
        timeline.show({ ...timeline.view, t0: moment.time_ns - length / 2, t1: moment.time_ns + length / 2 });
        timeline.choose({ group: timeline.grouping.by === "site" ? siteOf(moment) ?? null : null });
      },
    }),
    sizeColumn("size", (moment) => moment.nbytes),
    timeColumn("at", (moment) => moment.time_ns),
  ], moments, { sortBy: "at", empty });
}

/** What could be done about the peak, as the recording found; each piece leads to its blocks. */
function tableOfAdvice(timeline, advice) {
  const { snapshot } = timeline;
  const buttonOf = (block) => make("button", { type: "button", className: "site", onclick: () => timeline.choose({ block }) },
    chip(timeline.grouping.groupOf(block)), formatSize(snapshot.nbytes[block]));
  return new Table([
    { name: "advice", of: (one) => one.text, text: (one) => one.text },
    sizeColumn("saves", (one) => one.saves),
    sizeColumn("peak after it", (one) => one.peak_after),
    {
      name: "blocks", of: (one) => one.blocks.length, isNumber: true,
      text: (one) => make("div", { className: "line" }, ...one.blocks.slice(0, BLOCKS_OF_ADVICE).map(buttonOf),
        ...(one.blocks.length > BLOCKS_OF_ADVICE ? [`and ${formatCount(one.blocks.length - BLOCKS_OF_ADVICE)} more`] : [])),
    },
  ], advice, { empty: "There is none." });
}
