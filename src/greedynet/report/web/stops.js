// The stops of the slider, as numbers and as text. One of them is the network that was kept.

function stopCount() {
  return data.growth ? data.growth.stops.length : 1;
}

function keptStop() {
  return data.growth ? data.growth.kept : 0;
}

function atStop(stop) {
  const { nodes, training, heldOut, stops, trained } = data.growth;
  const at = stops[stop], kept = stop === keptStop();
  const known = !(kept && trained); // the errors are those before further training
  return { nodes: nodes[at], training: known ? training[at] : null, heldOut: known && heldOut ? heldOut[at] : null, kept };
}

function stopName(stop) {
  if (!data.growth) return "the network";
  const { nodes, kept } = atStop(stop);
  return `${nodes} ${nodes === 1 ? "node" : "nodes"}${kept ? ", kept" : ""}`;
}

function stopText(stop) {
  const { training, heldOut } = atStop(stop);
  const parts = [];
  if (training !== null) parts.push(`${data.growth.errorName} ${shown(training, 3)} on training rows`);
  if (heldOut !== null) parts.push(`${shown(heldOut, 3)} on held-out rows`);
  if (data.rowScores) parts.push(`${data.rowScores.name} ${shown(data.rowScores.values[stop])} on the rows shown`);
  return `${stopName(stop)}: ${parts.join(", ")}.`;
}

// The neurons (a, b) with a kink at a stop.
function kinksAt(stop) {
  return data.picture.kinks ? data.picture.kinks[stop] : [];
}
