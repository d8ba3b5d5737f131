// Enhancements only: the page is complete without them.
(() => {
  "use strict";

  // Vega is run when a reader first asks for it, not when the page opens.
  const loadVega = async () => {
    if (window.vegaEmbed) return;
    const packed = atob(document.getElementById("vega-library").textContent.trim());
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.type = "module";
    script.textContent =
      (await new Response(plain).text()) + ";window.dispatchEvent(new Event('vega-ready'));";
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
        const text = figure.querySelector("script[type='application/json']").textContent;
        await whenVega();
        const box = live.appendChild(document.createElement("div"));
        await window.vegaEmbed(box, JSON.parse(text), { actions: false, renderer: "svg" });
      }
      button.setAttribute("aria-pressed", String(open));
      button.textContent = open ? "Back to the drawing" : "Explore";
      figure.classList.toggle("exploring", open);
    });
  }

  const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });

  const labelled = (text, control) => {
    const label = document.createElement("label");
    label.append(text + " ", control);
    return label;
  };

  for (const block of document.querySelectorAll(".filterable")) {
    const bodies = [...block.querySelectorAll("tbody")];
    const word = (row) => row.querySelector(".verdict").lastChild.textContent.trim();
    const rows = bodies.flatMap((body) => [...body.querySelectorAll("tr:not(.group)")]);
    const search = Object.assign(document.createElement("input"), { type: "search", placeholder: "flush allocate" });
    const group = document.createElement("select");
    const verdict = document.createElement("select");
    const said = document.createElement("output");
    const heading = (body) => body.querySelector(".group").textContent.trim();
    group.append(option("", "all"));
    for (const found of new Set(bodies.map(heading))) group.append(option(found, found));
    verdict.append(option("", "all"));
    for (const found of new Set(rows.map(word))) verdict.append(option(found, found));

    const controls = { filter: search, mpi: group, verdict };
    const name = block.dataset.table;
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

    const apply = () => {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      bodies.forEach((body) => {
        let left = 0;
        for (const row of body.querySelectorAll("tr:not(.group)")) {
          const text = row.textContent.toLowerCase();
          const keep =
            (!group.value || group.value === heading(body)) &&
            (!verdict.value || verdict.value === word(row)) &&
            wanted.every((part) => text.includes(part));
          row.hidden = !keep;
          left += keep;
        }
        body.hidden = !left;
        shown += left;
      });
      said.textContent = `${shown} of ${rows.length} cells`;
    };

    const bar = document.createElement("form");
    bar.className = "filter";
    bar.setAttribute("role", "search");
    bar.addEventListener("submit", (event) => event.preventDefault());
    bar.append(labelled("Filter", search), labelled("MPI", group), labelled("Verdict", verdict), said);
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
  for (const table of document.querySelectorAll(".table-block.rows table")) {
    const heads = [...table.querySelectorAll("thead th")];
    const bodies = [...table.tBodies].map((body) => [body, [...body.querySelectorAll("tr:not(.group)")]]);
    heads.forEach((head, at) => {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: "none" }[head.ariaSort] ?? "ascending";
        for (const one of heads) one.removeAttribute("aria-sort");
        if (next !== "none") head.ariaSort = next;
        const sign = { ascending: 1, descending: -1, none: 0 }[next];
        for (const [body, rows] of bodies) {
          body.append(...(sign ? rows.toSorted((a, b) => sign * compare(key(a, at), key(b, at))) : rows));
        }
      });
    });
  }
})();
