"use strict";
// The page is whole without this. It adds: sorting and filtering of tables, a slider for the probability of edges, and
// names and lines of a variable that is pointed at. Texts of others are only ever read, or set as text.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  for (const controls of all(".controls")) controls.hidden = false;

  // Tables: rows that match, in their order, and the first of them unless all are asked for.
  const tables = new Map();
  for (const box of all(".filtered")) {
    const table = box.querySelector("table"), body = table.tBodies[0], rows = [...body.rows];
    const search = box.querySelector("input[type=search]"), output = box.querySelector("output");
    const first = Number(box.dataset.first);
    const state = { wrong: null, text: "" };
    const names = new Map(rows.map(row => [row, row.cells[0].textContent.toLowerCase()]));
    const update = () => {
      const wanted = search.value.trim().toLowerCase();
      let shown = 0;
      for (const row of body.rows) {
        const wrong = row.cells.length > 2 ? Number(row.cells[2].dataset.v) : 0;
        const there = state.wrong === null ? !("other" in row.dataset) || wanted : wrong <= state.wrong;
        row.hidden = !(there && names.get(row).includes(wanted));
        row.classList.toggle("more", !row.hidden && ++shown > first);
      }
      output.textContent = `${shown} of ${rows.length}`;
    };
    search.addEventListener("input", update);
    all("thead th", table).forEach((th, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener("click", () => {
        const down = th.getAttribute("aria-sort") === "descending" ? 1 : -1;
        for (const other of all("th", th.parentNode)) other.removeAttribute("aria-sort");
        th.setAttribute("aria-sort", down < 0 ? "descending" : "ascending");
        const value = row => Number(row.cells[column].dataset.v);
        const compare = column === 0
          ? (a, b) => -down * names.get(a).localeCompare(names.get(b))
          : (a, b) => down * (value(a) - value(b)) * (table.id === "edges-table" && column === 2 ? -1 : 1);
        body.append(...rows.slice().sort(compare));
        update();
      });
    });
    tables.set(table.id, { state, update, rows });
    update();
  }

  // The slider: 1 - 10^-x, for most edges are nearly certain.
  const figure = document.getElementById("network"), edges = tables.get("edges-table");
  const lines = figure ? all(".lines path", figure) : [];
  for (const slider of all("input[type=range]")) {
    const told = slider.parentNode.querySelector(".value"), output = slider.closest(".controls").querySelector("output");
    const limits = edges ? edges.rows.filter(row => !("other" in row.dataset)).map(row => Number(row.cells[2].dataset.v)) : [];
    const start = Math.max(0, ...limits);
    slider.value = start > 0 ? Math.floor(-20 * Math.log10(start)) / 20 : 0;
    const update = moved => {
      const wrong = 10 ** -Number(slider.value), p = 1 - wrong;
      told.textContent = p < 0.995 ? p.toFixed(2) : p.toFixed(Math.ceil(-Math.log10(wrong) - 1e-9));
      if (edges) {
        edges.state.wrong = moved ? wrong : null;
        edges.update();
      }
      for (const line of lines) line.classList.toggle("off", moved && Number(line.dataset.wrong) > wrong);
      if (!figure) return;
      const drawn = all("svg.network", figure).find(svg => svg.getClientRects().length) || figure;
      const visible = all(".lines path:not(.off)", drawn).length;
      output.textContent = `${visible} of ${all(".lines path", drawn).length} lines`;
    };
    slider.addEventListener("input", () => update(true));
    addEventListener("resize", () => update(edges && edges.state.wrong !== null));
    update(false);
  }

  // A variable that is pointed at, tapped or reached with the keyboard: its name, its lines and its neighbours.
  for (const svg of all("svg.network")) {
    const dots = all("g[data-i]", svg), own = all(".lines path", svg);
    const output = figure.querySelector("output");
    let before = output.textContent;
    const show = dot => {
      if (!svg.classList.contains("pointed")) before = output.textContent;
      const mine = own.filter(line => [line.dataset.i, line.dataset.j].includes(dot.dataset.i));
      const near = new Set([dot.dataset.i, ...mine.flatMap(line => [line.dataset.i, line.dataset.j])]);
      svg.classList.add("pointed");
      for (const line of own) line.classList.toggle("near", mine.includes(line));
      for (const other of dots) other.classList.toggle("near", near.has(other.dataset.i));
      output.textContent = dot.querySelector("title").textContent;
    };
    const hide = () => {
      if (!svg.classList.contains("pointed")) return;
      svg.classList.remove("pointed");
      output.textContent = before;
    };
    for (const dot of dots) {
      dot.setAttribute("tabindex", "0");
      for (const event of ["pointerenter", "focus", "click"]) dot.addEventListener(event, () => show(dot));
      for (const event of ["pointerleave", "blur"]) dot.addEventListener(event, hide);
    }
  }
})();
