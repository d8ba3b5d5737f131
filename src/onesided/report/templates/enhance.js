// Enhancements only: the page is complete without them.
(() => {
  "use strict";

  // Parts of the page that only this script reads are compressed with gzip, in base64.
  const unpack = (script) => {
    const bytes = Uint8Array.from(atob(script.textContent.trim()), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };

  // Vega is run when a reader first asks for it, not when the page opens.
  const loadVega = async () => {
    if (window.vegaEmbed) return;
    const script = document.createElement("script");
    script.type = "module";
    script.textContent =
      (await unpack(document.getElementById("vega-library"))) + ";window.dispatchEvent(new Event('vega-ready'));";
    document.head.append(script);
  };

  const whenVega = () =>
    new Promise((resolve) => {
      if (window.vegaEmbed) resolve();
      else window.addEventListener("vega-ready", resolve, { once: true });
      loadVega();
    });

  for (const figure of document.querySelectorAll("figure")) {
    const button = figure.querySelector("button.explore");
    const live = figure.querySelector(".live");
    button.hidden = false;
    button.addEventListener("click", async () => {
      const open = button.getAttribute("aria-pressed") !== "true";
      // a view that fills its box can only be drawn in a box that has a width
      live.hidden = !open;
      if (open && !live.childElementCount) {
        const text = await unpack(figure.querySelector("script.specification"));
        await whenVega();
        const box = live.appendChild(document.createElement("div"));
        await window.vegaEmbed(box, JSON.parse(text), { actions: false, renderer: "svg" });
      }
      button.setAttribute("aria-pressed", String(open));
      button.textContent = open ? "Back to the drawing" : "Explore";
      figure.classList.toggle("exploring", open);
    });
  }

  // The rows of a long table are kept as text. The page has a thousand of them at a time.
  const PAGE = 1000;
  const LETTERS = { amp: "&", lt: "<", gt: ">", quot: '"', "#34": '"', "#39": "'" };
  const plain = (html) =>
    html.replaceAll("<wbr>", "").replace(/<[^>]*>/g, " ").replace(/&(amp|lt|gt|quot|#34|#39);/g, (_, name) => LETTERS[name]);

  class Rows {
    constructor(block) {
      this.table = block.querySelector("table");
      this.packed = block.querySelector("script.rest");
      this.more = block.querySelector(".more[data-rows]");
      this.from = 0;
      this.to = this.table.querySelectorAll("tbody tr:not(.group)").length;
      if (!this.more) return;
      this.say(Number(this.more.dataset.rows));
      this.more.querySelector("button").addEventListener("click", async () => {
        await this.load();
        this.show(this.from, this.to + PAGE);
      });
    }

    load() {
      return (this.loading ??= this.read());
    }

    async read() {
      const bodies = [...this.table.tBodies];
      const text = this.packed ? await unpack(this.packed) : bodies.map((body) => body.outerHTML).join("");
      this.every = [];
      text.split("<tbody>").slice(1).forEach((body, at) => {
        const rows = body.replace("</tbody>", "").split("<tr").slice(1).map((row) => "<tr" + row);
        const heading = rows[0].startsWith('<tr class="group"') ? rows.shift() : "";
        const names = plain(heading.match(/ data-names="([^"]*)"/)?.[1] ?? "");
        const group = { at, heading, words: plain(heading).trim(), names };
        for (const html of rows) this.every.push({ html, group });
      });
      this.chosen = this.every;
    }

    async choose(keep) {
      await this.load();
      this.keep = keep;
      this.arrange();
      return this.chosen.length;
    }

    async sort(at, sign) {
      await this.load();
      this.order = sign ? (one, other) => sign * compare(key(one, at), key(other, at)) : undefined;
      this.arrange();
    }

    arrange() {
      const { keep, order } = this;
      this.chosen = keep ? this.every.filter(keep) : this.every;
      if (order) this.chosen = this.chosen.toSorted((one, other) => one.group.at - other.group.at || order(one, other));
      this.show(0, this.more ? PAGE : this.every.length);
    }

    // Show the part of the table that has the row with this name.
    async reveal(name) {
      await this.load();
      const at = this.chosen.findIndex((row) => row.html.startsWith(`<tr id="${name}"`));
      const from = PAGE * Math.floor(at / PAGE);
      if (at >= 0) this.show(from, from + PAGE);
    }

    show(from, to) {
      [this.from, this.to] = [from, Math.min(to, this.chosen.length)];
      this.table.closest(".table-block").classList.remove("preview");
      let html = "";
      let group;
      for (const row of this.chosen.slice(from, to)) {
        if (row.group !== group) html += `${group ? "</tbody>" : ""}<tbody>${row.group.heading}`;
        group = row.group;
        html += row.html;
      }
      for (const body of [...this.table.tBodies]) body.remove();
      this.table.insertAdjacentHTML("beforeend", html);
      if (this.more) this.say(this.chosen.length);
    }

    say(all) {
      const { from, to, more } = this;
      const button = more.querySelector("button");
      const part = from ? `Rows ${from + 1} to ${to}` : `The first ${to}`;
      more.firstChild.textContent = `${part} of ${all} rows; the CSV has all. `;
      more.hidden = from === 0 && to === all;
      button.hidden = to === all;
      button.textContent = `Show ${Math.min(PAGE, all - to)} more rows`;
    }
  }

  const AGAIN = /<details class="again">.*?<\/details>/s;
  const collator = new Intl.Collator();
  // The key by which a row is sorted: the number in the row's cell of a column, or the cell's words.
  const key = (row, at) => {
    row.keys ??= [];
    if (!(at in row.keys)) {
      const cell = row.html.split(/<t[hd](?=[ >])/)[at + 1];
      const number = cell.match(/<data value="([^"]*)"/)?.[1];
      row.keys[at] = number === undefined ? plain("<td" + cell.replace(AGAIN, "")).trim() : Number(number);
    }
    return row.keys[at];
  };
  const compare = (one, other) =>
    typeof one === typeof other
      ? typeof one === "number" ? one - other : collator.compare(one, other)
      : typeof one === "number" ? -1 : 1;

  const tables = new Map();
  for (const block of document.querySelectorAll(".table-block:not(.matrix, .cut)")) tables.set(block, new Rows(block));

  // If a table scrolls in a region of the page, the region's top must be in sight, too.
  const showHead = (target) => {
    const region = target.closest(".region");
    const above = region ? region.getBoundingClientRect().top - MARGIN : 0;
    if (above < 0) window.scrollBy({ top: above, behavior: "instant" });
  };
  const MARGIN = 8;
  // The heading of a group stays below the head of its table, which is as high as its words need.
  for (const region of document.querySelectorAll(".region.large")) {
    const measure = () => region.style.setProperty("--head", `${region.querySelector("thead").offsetHeight}px`);
    new ResizeObserver(measure).observe(region.querySelector("thead"));
  }

  // Follow a link to a row that is not in the page yet, or is folded.
  const arrive = async () => {
    const name = decodeURIComponent(location.hash.slice(1));
    const block = [...tables.keys()].find((one) => name.startsWith(one.dataset.table + "-"));
    if (block && !document.getElementById(name)) await tables.get(block).reveal(name);
    const target = document.getElementById(name);
    if (!target) return;
    for (const one of document.querySelectorAll(".aimed")) one.classList.remove("aimed");
    const isRow = target.localName === "tr";
    if (isRow) target.classList.add("aimed");
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    for (const shown of document.querySelectorAll("[popover]:popover-open")) shown.hidePopover();
    target.scrollIntoView({ behavior: "instant", block: isRow ? "center" : "start" });
    if (isRow) showHead(target);
  };
  window.addEventListener("hashchange", arrive);
  arrive();

  const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });

  const labelled = (text, control) => {
    const label = document.createElement("label");
    label.append(text + " ", control);
    return label;
  };

  const choice = (values) => {
    const select = document.createElement("select");
    select.append(option("", "all"), ...values.split("|").map((value) => option(value, value)));
    return select;
  };

  // A reader's choice of a table's rows is in the page's address: words, MPI, verdict, column, order.
  const FIELDS = ["filter", "mpi", "verdict", "sort", "order"];
  const SIGNS = { ascending: 1, descending: -1, none: 0 };

  class Choice {
    constructor(block, rows) {
      this.block = block;
      this.rows = rows;
      this.name = block.dataset.table;
      this.heads = block.matches(".rows") ? [...block.querySelectorAll("thead th")] : [];
      this.titles = this.heads.map((head) => head.textContent.trim());
      this.controls = {};
      this.sorted = { sort: "", order: "none" };
      if (block.matches(".filterable")) this.addFilter();
      this.heads.forEach((head, at) => this.addSort(head, at));
    }

    addFilter() {
      const { groups, verdicts, label } = this.block.dataset;
      const search = Object.assign(document.createElement("input"), { type: "search", placeholder: "flush allocate" });
      this.controls = { filter: search, mpi: choice(groups), verdict: choice(verdicts) };
      this.said = document.createElement("output");
      const bar = document.createElement("form");
      bar.className = "filter";
      bar.setAttribute("role", "search");
      bar.setAttribute("aria-label", "Filter " + this.name);
      bar.addEventListener("submit", (event) => event.preventDefault());
      const { mpi, verdict } = this.controls;
      bar.append(labelled("Filter", search), labelled("MPI", mpi), labelled(label, verdict), this.said);
      bar.addEventListener("input", () => {
        this.filter();
        this.remember();
      });
      this.block.prepend(bar);
    }

    // A click on a column's head sorts the rows of each group; the third click restores their order.
    addSort(head, at) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", async () => {
        const order = { ascending: "descending", descending: "none" }[head.ariaSort] ?? "ascending";
        await this.sort(this.titles[at], order);
        this.remember();
      });
    }

    async sort(title, order) {
      const at = this.titles.indexOf(title);
      this.sorted = { sort: at < 0 ? "" : title, order: at < 0 ? "none" : order };
      await this.rows.sort(at, at < 0 ? 0 : SIGNS[order]);
      for (const one of this.heads) one.removeAttribute("aria-sort");
      if (this.sorted.order !== "none") this.heads[at].ariaSort = order;
    }

    async filter() {
      const { count, things } = this.block.dataset;
      const { filter, mpi, verdict } = this.controls;
      const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      const keep = (row) =>
        (!mpi.value || mpi.value === row.group.words) &&
        (!verdict.value || row.html.includes(` data-verdict="${verdict.value}"`)) &&
        wanted.every((part) => text(row).includes(part));
      const chooses = wanted.length || mpi.value || verdict.value;
      const shown = chooses || this.rows.keep ? await this.rows.choose(chooses ? keep : undefined) : count;
      const none = "Nothing has all of this: leave something out.";
      this.said.textContent = Number(shown) ? `${shown} of ${count} ${things}` : none;
    }

    remember() {
      const { sort, order } = this.sorted;
      const chosen = Object.entries(this.controls).map(([key, control]) => [key, control.value]);
      if (order !== "none") chosen.push(["sort", sort], ["order", order]);
      const told = chosen.filter(([, value]) => value);
      const words = new URLSearchParams([["table", this.name], ...told]);
      history.replaceState(null, "", told.length ? "#" + words : "#caption-" + this.name);
    }

    // An address that names no table applies to each table of cells with that MPI and verdict.
    isMeant(words) {
      if (words.has("table")) return words.get("table") === this.name;
      const { mpi, verdict } = this.controls;
      const has = (control, value) => !value || [...control.options].some((one) => one.value === value);
      return mpi && has(mpi, words.get("mpi")) && has(verdict, words.get("verdict"));
    }

    recall() {
      const words = new URLSearchParams(location.hash.slice(1));
      if (!FIELDS.some((key) => words.has(key)) || !this.isMeant(words)) return false;
      for (const [key, control] of Object.entries(this.controls)) control.value = words.get(key) || "";
      this.block.closest("details")?.setAttribute("open", "");
      this.sort(words.get("sort") || "", words.get("order") in SIGNS ? words.get("order") : "none");
      if (this.said) this.filter();
      return true;
    }
  }

  // The text that a filter searches: the words of a row and its group, and the library's own name.
  const text = (row) =>
    (row.text ??= `${row.group.words} ${row.group.names} ${plain(row.html)}`.toLowerCase());

  const choices = [...tables].map(([block, rows]) => new Choice(block, rows));
  for (const one of choices) if (one.said) one.filter();
  const recallAll = () => {
    const meant = choices.filter((one) => one.recall());
    if (!meant.length) return;
    // Who uses a keyboard goes on from the table, not from the link.
    const { block } = meant[0];
    block.tabIndex = -1;
    requestAnimationFrame(() => {
      block.scrollIntoView({ behavior: "instant" });
      block.focus({ preventScroll: true });
    });
  };
  window.addEventListener("hashchange", recallAll);
  recallAll();
})();
