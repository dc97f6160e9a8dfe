import type { Referent } from "./refer.ts";
import type { ThingVerb } from "./verbs/verb.ts";

const questionOpening =
  "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):";

/** More choices would not help, and the choices of two things multiply. */
const maxChoices = 12;

/** Asks which of several actions is meant. The next action is expected to be the number of one of them. */
export function askWhich(verb: ThingVerb, choices: readonly Referent[][]): string {
  const actions = combine(choices).map(
    (things, index) =>
      `${index}:\t${things.reduce((form, thing) => form.replace("_", () => writeOut(thing)), verb.form)}`,
  );
  return [questionOpening, ...actions, ""].join("\n");
}

function writeOut({ fullName, place }: Referent): string {
  return `${fullName} (${place})`;
}

/** All combinations with one of each. */
function combine(choices: readonly Referent[][]): Referent[][] {
  return choices.reduce<Referent[][]>(
    (chosen, next) =>
      chosen.flatMap((things) => next.slice(0, maxChoices).map((thing) => [...things, thing])),
    [[]],
  );
}

/** The action that a number stands for, if the state ends by asking for one. */
export function readChoice(state: string, action: string): string | undefined {
  if (!/^\d{1,4}$/.test(action)) return undefined;
  const question = state.lastIndexOf(questionOpening);
  if (question < 0) return undefined;
  const option = state
    .slice(question)
    .split("\n")
    .find((line) => line.startsWith(`${action}:\t`));
  return option?.slice(action.length + 2).replace(/ \(in [^()]{1,200}\)/g, "");
}
