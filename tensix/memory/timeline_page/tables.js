/** Tables whose columns sort by a click, and that grow by pages, so that a hundred thousand rows cost nothing. */

const ROWS_AT_A_TIME = 200;

/**
 * A column has a name, `of` (the value of a row, by which it sorts), `text` (what is shown: text or an element), and
 * `isNumber`. Numbers sort with the largest first.
 */
class Table {
  constructor(columns, rows, { sortBy = null, isChosen = () => false } = {}) {
    Object.assign(this, { columns, rows, isChosen, shown: ROWS_AT_A_TIME });
    this.heads = columns.map((column) => make("th", { scope: "col", className: column.isNumber ? "number" : "" },
      make("button", { type: "button", onclick: () => this.sort(column) }, column.name)));
    this.body = make("tbody");
    this.more = make("button", { type: "button", className: "more", onclick: () => this.#grow() });
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
    const compare = column.isNumber
      ? (one, other) => column.of(one) - column.of(other)
      : (one, other) => column.of(one).localeCompare(column.of(other));
    this.rows = [...this.rows].sort((one, other) => (this.isDown ? compare(other, one) : compare(one, other)));
    this.heads.forEach((head, number) => {
      if (this.columns[number] === column) head.setAttribute("aria-sort", this.isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.fill();
  }

  fill() {
    const rows = this.rows.slice(0, this.shown).map((row) => make("tr", { className: this.isChosen(row) ? "chosen" : "" },
      ...this.columns.map((column) => make("td", { className: column.isNumber ? "number" : "" }, column.text(row)))));
    this.body.replaceChildren(...rows);
    const left = this.rows.length - rows.length;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show more of ${formatCount(left)} further rows`;
  }

  #grow() {
    this.shown += 5 * ROWS_AT_A_TIME;
    this.fill();
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

function siteColumn(snapshot, siteOf, choose) {
  return {
    name: "call site",
    of: (row) => snapshot.nameOfFrame(siteOf(row).frame),
    text: (row) => make("button", { type: "button", className: "site", onclick: () => choose(row) },
      ...(siteOf(row).rank === undefined ? [] : [chip(siteOf(row))]), snapshot.nameOfFrame(siteOf(row).frame)),
  };
}

function tableOfSites(snapshot, timeline) {
  const { sites } = snapshot;
  const most = (measure) => sites.reduce((largest, site) => Math.max(largest, site[measure]), 0);
  const table = new Table([
    siteColumn(snapshot, (site) => site, (site) => timeline.choose({ site: site === timeline.site ? null : site })),
    sizeColumn("at the peak", (site) => site.peak, most("peak")),
    sizeColumn("in total", (site) => site.total, most("total")),
    sizeColumn("live at the end", (site) => site.live, most("live")),
    { name: "blocks", of: (site) => site.count, text: (site) => formatCount(site.count), isNumber: true },
    sizeColumn("largest", (site) => site.largest),
    timeColumn("mean lifetime", (site) => site.life / site.count),
  ], sites, { sortBy: "at the peak", isChosen: (site) => site === timeline.site });
  timeline.addEventListener("choose", () => table.fill());
  return table;
}

function tableOfBlocks(snapshot, timeline, blocks) {
  const table = new Table([
    siteColumn(snapshot, (block) => snapshot.siteOf(block), (block) => timeline.choose({ block })),
    sizeColumn("size", (block) => snapshot.nbytes[block]),
    timeColumn("allocated at", (block) => snapshot.allocated[block]),
    { name: "held by", of: (block) => (snapshot.holders.get(block) ?? []).join(), text: (block) => holdersOf(snapshot, block) },
  ], blocks, { sortBy: "size", isChosen: (block) => block === timeline.block });
  timeline.addEventListener("choose", () => table.fill());
  return table;
}

/** Copies or failures: moments with a size and a stack. */
function tableOfMoments(snapshot, timeline, moments) {
  const siteOf = (moment) => snapshot.stacks[moment.stack].site;
  return new Table([
    siteColumn(snapshot, siteOf, (moment) => {
      const length = timeline.view.t1 - timeline.view.t0;
      timeline.show({ ...timeline.view, t0: moment.time_ns - length / 2, t1: moment.time_ns + length / 2 });
      timeline.choose({ site: siteOf(moment).count ? siteOf(moment) : null });
    }),
    sizeColumn("size", (moment) => moment.nbytes),
    timeColumn("at", (moment) => moment.time_ns),
  ], moments, { sortBy: "at" });
}
