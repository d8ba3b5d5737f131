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
    group.append(option("", "all"));
    bodies.forEach((body, place) =>
      group.append(option(String(place), body.querySelector(".group").textContent.trim())));
    verdict.append(option("", "all"));
    for (const found of new Set(rows.map(word))) verdict.append(option(found, found));

    const apply = () => {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      bodies.forEach((body, place) => {
        let left = 0;
        for (const row of body.querySelectorAll("tr:not(.group)")) {
          const text = row.textContent.toLowerCase();
          const keep =
            (!group.value || group.value === String(place)) &&
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
    bar.addEventListener("input", apply);
    block.prepend(bar);
    apply();
  }
})();
