// The stops of the slider, as numbers and as text. The last one is the finished network.

function lastStop() {
  return data.growth ? data.growth.steps.length : 0;
}

function atStop(stop) {
  const growth = data.growth;
  if (stop === lastStop()) return { ...growth.finished, last: true };
  const step = growth.steps[stop];
  return {
    nodes: growth.nodes[step], training: growth.training[step], score: scoreOf(growth, step), scoreName: growth.scoreName, last: false,
  };
}

function isSingle(kind) {
  return ["line", "network", "curves of single columns", "network, two layers"].includes(kind);
}

// The score of a width: of the path, or of the candidate of this width, if there is one.
function scoreOf({ score, candidates, nodes }, step) {
  if (score) return score[step];
  const found = (candidates || []).find((one) => isSingle(one.kind) && one.nodes === nodes[step]);
  return found ? found.error : null;
}

function stopName(stop) {
  if (!data.growth) return "finished";
  const { nodes, last } = atStop(stop);
  return `${last ? "finished, " : ""}${nodes} ${nodes === 1 ? "node" : "nodes"}`;
}

function stopText(stop) {
  const { training, score, scoreName, last } = atStop(stop);
  const parts = [];
  if (training !== null) parts.push(`${data.growth.errorName} ${shown(training, 3)} on the training rows`);
  if (score !== null) parts.push(data.growth.candidates ? `${shown(score, 3)} on ${scoreName}` : `${scoreName} ${shown(score, 3)}`);
  if (data.rowScores) parts.push(`${data.rowScores.name} ${shown(data.rowScores.values[stop])} on the rows shown`);
  const name = stopName(stop);
  return `${last ? name.replace("finished", "The finished network") : name}: ${parts.join(", ")}.`;
}

// The neurons (a, b) with a kink at a stop.
function kinksAt(stop) {
  const { kinks } = data.picture;
  if (!kinks) return [];
  return stop === lastStop() ? kinks.finished : kinks.grown.slice(0, data.growth.steps[stop]);
}
