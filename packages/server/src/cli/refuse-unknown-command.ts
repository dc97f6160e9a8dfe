import type { Command } from "commander";
import { similarName } from "../platform/words.ts";
import { CommandError } from "./terminal.ts";

/**
 * Refuses a misspelt command, also before `--help`. Without a command the server starts, so Commander would take any word
 * for an argument of `serve`.
 */
export function refuseUnknownCommand(program: Command, [word, ...rest]: readonly string[]): void {
  if (program.commands.length === 0 || word === undefined || word.startsWith("-")) return;
  if (word === "help") {
    refuseUnknownCommand(program, rest);
    return;
  }
  const command = program.commands.find((one) => one.name() === word);
  if (command !== undefined) {
    refuseUnknownCommand(command, rest);
    return;
  }
  const names = program
    .createHelp()
    .visibleCommands(program)
    .map((one) => one.name())
    .filter((name) => name !== "help");
  const similar = similarName(word, names);
  const hint = similar === undefined ? "" : ` Did you mean ${similar}?`;
  const given = program.parent === null ? word : `${program.name()} ${word}`;
  const available = names.length === 1 ? `command is ${names[0]}` : `commands are ${names.join(", ")}`;
  throw new CommandError(`Unknown command ${given}.${hint} The ${available}.`);
}
