// Fetches the part of the graph that the page shows as a table, and lets it be drawn.
"use strict";

const drawing = document.querySelector("[data-graph]");
const draw = async () => {
  const answer = await fetch(drawing.dataset.graph, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`the graph did not come: ${answer.status}`);
  const graph = await answer.json();
  if (!graph.nodes.length) return;
  graph.base = drawing.dataset.base;
  graph.around = drawing.dataset.around;
  document.getElementById("graph").textContent = JSON.stringify(graph);
  drawing.hidden = false;
  const script = document.createElement("script");
  script.src = drawing.dataset.script;
  document.body.append(script);
};
if (drawing) draw().catch((error) => console.error(error));
