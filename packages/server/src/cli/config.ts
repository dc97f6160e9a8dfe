import { describeConfig, type RawEnvironment, unknownVariables } from "../config.ts";

/** Prints every variable's effective value and whether it is set. */
export function showConfig(environment: RawEnvironment): void {
  for (const { name, value, from } of describeConfig(environment)) {
    process.stdout.write(
      `${`${name}=${value}`.padEnd(60)} ${from === "environment" ? "# set" : "# default"}\n`,
    );
  }
  for (const name of unknownVariables(environment))
    process.stderr.write(`${name} is unknown and has no effect\n`);
}
