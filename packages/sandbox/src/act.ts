import { askWhich, readChoice } from "./ambiguity.ts";
import { applyDomainRule, refusal } from "./domain-rules.ts";
import { refer } from "./refer.ts";
import type { Scene } from "./scene.ts";
import { connectVerbs } from "./verbs/connect.ts";
import { deviceVerbs } from "./verbs/devices.ts";
import { doorVerbs } from "./verbs/doors.ts";
import { handlingVerbs } from "./verbs/handling.ts";
import { lookVerbs } from "./verbs/look.ts";
import { pourVerbs } from "./verbs/pour.ts";
import { selfVerbs } from "./verbs/self.ts";
import { travelVerbs } from "./verbs/travel.ts";
import type { ThingVerb, Verb } from "./verbs/verb.ts";

/** The first matching pattern wins: "move cup to table" must be tried before "move to hallway". */
const verbs: readonly Verb[] = [
  ...lookVerbs,
  ...selfVerbs,
  ...doorVerbs,
  ...deviceVerbs,
  ...handlingVerbs,
  ...pourVerbs,
  ...connectVerbs,
  ...travelVerbs,
];

/** Real commands are shorter. Patterns are not tried on longer input. */
const maxCommandCharacters = 500;

/** The observation that follows an action. */
export function act(scene: Scene, action: string, knowledge: string): string {
  const chosen = readChoice(scene.state, action);
  const command = chosen ?? action.replace(/[.!]$/, "");
  if (command.length > maxCommandCharacters) return refusal(knowledge);

  for (const verb of verbs) {
    const words = verb.pattern.exec(command)?.slice(1);
    if (words === undefined) continue;
    const isChosen = chosen !== undefined;
    const observation = "form" in verb ? handle(scene, verb, words, isChosen) : verb.observe(scene, words);
    return observation ?? refusal(knowledge);
  }
  return applyDomainRule(knowledge, command) ?? refusal(knowledge);
}

function handle(
  scene: Scene,
  verb: ThingVerb,
  words: readonly string[],
  isChosen: boolean,
): string | undefined {
  const choices = words.map((name) => refer(scene, name, !verb.isForRoomOnly));
  if (choices.some((things) => things.length === 0)) return undefined;
  if (!isChosen && choices.some((things) => things.length > 1)) return askWhich(verb, choices);
  const [first, second] = choices.map((things) => things[0]);
  return first === undefined ? undefined : verb.perform(first, second ?? first);
}
