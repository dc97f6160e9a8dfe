import { simulateTurn } from "./simulate-turn.ts";

/** A small house for the tests in this folder. */
export const house = `[STARTING STATE]
This room is called the cellar. In it, you see: 
	the agent
	a barrel (containing a substance called cider)
	a rake
You also see:
	A door to the pantry (that is open)

[COMPLETE ROOM MAP]
[pantry]
This room is called the pantry. In it, you see: a bench. On the bench is: a jar (containing a fig, a plum), a mug (containing nothing). a chest. The chest door is closed. a kettle, which is turned off. In the kettle is: nothing. a lantern, which is deactivated. the mat a thermometer, currently reading a temperature of 14 degrees celsius a tin cup (containing green paint) a tin cup (containing white paint) You also see: A door to the cellar (that is open) A door to the loft (that is closed)

[cellar]
This room is called the cellar. In it, you see: a barrel (containing a substance called cider) You also see: A door to the pantry (that is open)

[loft]
This room is called the loft. In it, you see: a kite a rope You also see: A door to the pantry (that is closed)

[ROOM CONNECTIONS]
- pantry connects to: cellar, loft
- cellar connects to: pantry
- loft connects to: pantry`;

export interface Question {
  state: string;
  action: string;
  environment?: string;
  task?: string;
  tools?: string;
  knowledge?: string;
}

/** Calls the sandbox as the server calls its upstream. */
export function ask({ state, action, environment = house, task, tools, knowledge }: Question): string {
  const sections = [
    ["ENVIRONMENT STATE", environment],
    ["TASK CONTEXT", task],
    ["TOOL SCHEMAS", tools],
    ["DOMAIN KNOWLEDGE", knowledge],
  ].flatMap(([name, text]) => (text ? [`## ${name}\n${text}`] : []));
  return simulateTurn(sections.join("\n\n"), `State: ${state}\n\nAction: ${action}`);
}

export const pantryState = "You teleport to the pantry.";
