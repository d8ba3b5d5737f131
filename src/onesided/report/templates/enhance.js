// Enhancements only: the page is complete without them.
(() => {
  "use strict";

  // What only a script reads is packed: gzip, in base64.
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

  // A long table opens with its first rows; all are put there when a reader asks for them.
  const fills = new Map();
  for (const script of document.querySelectorAll("script.rest")) {
    const block = script.closest(".table-block");
    const more = block.querySelector(".more");
    const fill = async () => {
      const table = block.querySelector("table");
      const rows = await unpack(script);
      for (const body of [...table.tBodies]) body.remove();
      table.insertAdjacentHTML("beforeend", rows);
      more.remove();
    };
    let filled;
    fills.set(block, () => (filled ??= fill()));
    more.querySelector("button").addEventListener("click", fills.get(block));
    more.querySelector("button").hidden = false;
  }
  const whole = (block) => fills.get(block)?.();

  // A link to a row that is not there yet, or is folded away.
  const arrive = async () => {
    const name = decodeURIComponent(location.hash.slice(1));
    const block = [...fills.keys()].find((one) => name.startsWith(one.dataset.table + "-"));
    if (block && !document.getElementById(name)) await whole(block);
    const target = document.getElementById(name);
    if (!target) return;
    for (const one of document.querySelectorAll(".aimed")) one.classList.remove("aimed");
    target.classList.add("aimed");
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView({ behavior: "instant", block: target.localName === "tr" ? "center" : "start" });
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

  for (const block of document.querySelectorAll(".filterable")) {
    const { table: name, count, groups, verdicts } = block.dataset;
    const search = Object.assign(document.createElement("input"), { type: "search", placeholder: "flush allocate" });
    const controls = { filter: search, mpi: choice(groups), verdict: choice(verdicts) };
    const said = document.createElement("output");

    const remember = () => {
      const chosen = Object.entries(controls).filter(([, control]) => control.value);
      const words = new URLSearchParams([["table", name], ...chosen.map(([key, one]) => [key, one.value])]);
      history.replaceState(null, "", chosen.length ? "#" + words : "#caption-" + name);
    };
    const recall = () => {
      const words = new URLSearchParams(location.hash.slice(1));
      if (words.get("table") !== name) return;
      for (const [key, control] of Object.entries(controls)) control.value = words.get(key) || "";
      block.closest("details")?.setAttribute("open", "");
      requestAnimationFrame(() => block.scrollIntoView({ behavior: "instant" }));
    };

    const word = (row) => row.querySelector(".verdict").lastChild.textContent.trim();
    const heading = (body) => body.querySelector(".group").textContent.trim();
    const apply = async () => {
      const { mpi, verdict } = controls;
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (wanted.length || mpi.value || verdict.value) await whole(block);
      let shown = 0;
      for (const body of block.querySelectorAll("tbody")) {
        let left = 0;
        for (const row of body.querySelectorAll("tr:not(.group)")) {
          const text = row.textContent.toLowerCase();
          const keep =
            (!mpi.value || mpi.value === heading(body)) &&
            (!verdict.value || verdict.value === word(row)) &&
            wanted.every((part) => text.includes(part));
          row.hidden = !keep;
          left += keep;
        }
        body.hidden = !left;
        shown += left;
      }
      said.textContent = `${shown} of ${count} cells`;
    };

    const bar = document.createElement("form");
    bar.className = "filter";
    bar.setAttribute("role", "search");
    bar.setAttribute("aria-label", "Filter " + name);
    bar.addEventListener("submit", (event) => event.preventDefault());
    bar.append(labelled("Filter", search), labelled("MPI", controls.mpi), labelled("Verdict", controls.verdict), said);
    bar.addEventListener("input", () => {
      apply();
      remember();
    });
    block.prepend(bar);
    recall();
    apply();
  }

  // A column's head sorts the rows of each group; the third time they are as they were.
  const key = (row, at) => {
    const cell = row.children[at];
    const number = cell.querySelector("data")?.value;
    return number === undefined ? cell.textContent.trim() : Number(number);
  };
  const compare = (one, other) =>
    typeof one === typeof other
      ? typeof one === "number" ? one - other : one.localeCompare(other)
      : typeof one === "number" ? -1 : 1;
  for (const block of document.querySelectorAll(".table-block.rows")) {
    const table = block.querySelector("table");
    const heads = [...table.querySelectorAll("thead th")];
    let measured;
    heads.forEach((head, at) => {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", async () => {
        await whole(block);
        measured ??= [...table.tBodies].map((body) => [body, [...body.querySelectorAll("tr:not(.group)")]]);
        const next = { ascending: "descending", descending: "none" }[head.ariaSort] ?? "ascending";
        for (const one of heads) one.removeAttribute("aria-sort");
        if (next !== "none") head.ariaSort = next;
        const sign = { ascending: 1, descending: -1, none: 0 }[next];
        for (const [body, rows] of measured) {
          body.append(...(sign ? rows.toSorted((a, b) => sign * compare(key(a, at), key(b, at))) : rows));
        }
      });
    });
  }
})();
