// Fetches the part of the graph that the page shows as a table, and lets it be drawn. In a block of
// its own: what draws has names of its own.
"use strict";
{
  const drawing = document.querySelector("[data-graph]");
  const load = async () => {
    const answer = await fetch(drawing.dataset.graph, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`the graph did not come: ${answer.status}`);
    const found = await answer.json();
    if (!found.nodes.length) return;
    found.base = drawing.dataset.base;
    found.around = drawing.dataset.around;
    document.getElementById("graph").textContent = JSON.stringify(found);
    drawing.hidden = false;
    const script = document.createElement("script");
    script.src = drawing.dataset.script;
    document.body.append(script);
  };
  if (drawing) load().catch((error) => console.error(error));
}
