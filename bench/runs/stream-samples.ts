const stepsOfTrajectory = 20;
const chunkCharacters = 500_000;
const filler = "The shelf holds a jar, a cup and a lamp. ";
const verbs = ["open", "close", "take", "look at", "go to"];

const roomWith = (thing: number): string =>
  `You are in the kitchen.\nOn the table is thing ${thing % 97}.\nThe fridge door is ${thing % 3 === 0 ? "open" : "closed"}.`;

/** The line of a sample of this many bytes, if it is no longer by itself. Every fourth step changes nothing. */
export const sampleLine = (index: number, bytes: number): string => {
  const step = index % stepsOfTrajectory;
  const thing = Math.floor(index / 4) * 4;
  const sample = {
    trajectory_id: `t${Math.floor(index / stepsOfTrajectory)}`,
    step,
    interaction: {
      state: roomWith(thing),
      action: `${verbs[index % verbs.length]} thing ${index % 97}`,
    },
    next_state: roomWith(index),
  };
  const line = JSON.stringify(sample);
  // The line feed in the state is written as two characters.
  const missing = bytes - line.length - 1 - 2;
  if (missing <= 0) return `${line}\n`;
  const text = filler.repeat(Math.ceil(missing / filler.length)).slice(0, missing);
  return `${JSON.stringify({ ...sample, next_state: `${sample.next_state}\n${text}` })}\n`;
};

/** The line of the sample's prediction: right for two of three. */
export const predictionLine = (index: number): string =>
  `${JSON.stringify({ index, prediction: index % 3 === 2 ? roomWith(index + 1) : roomWith(index) })}\n`;

/** Lines as they are asked for, so that the bench does not hold them. */
export const streamLines = (count: number, lineOf: (index: number) => string): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      let text = "";
      for (; next < count && text.length < chunkCharacters; next += 1) text += lineOf(next);
      if (text !== "") controller.enqueue(encoder.encode(text));
      if (next >= count) controller.close();
    },
  });
};
