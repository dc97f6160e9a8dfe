import packageJson from "../../package.json" with { type: "json" };
import { composePrices } from "../app/compose-deployments.ts";
import { type Config, ConfigError, readConfig, unknownVariables } from "../config/config.ts";
import type { RawEnvironment } from "../config/values.ts";
import { printable, printableJson } from "../platform/words.ts";
import { checkDatabase } from "./check-database.ts";
import { checkProvider, checkRedis } from "./check-services.ts";
import { checkJudge, checkUpstreams } from "./check-upstreams.ts";
import { type Finding, inTime } from "./finding.ts";

/** Prints what is good, and what to do about the rest. Returns the exit code. Changes nothing. */
export async function doctor(raw: RawEnvironment, { json = false }: { json?: boolean }): Promise<0 | 1> {
  const findings = [versions(), ...(await examine(raw))];
  for (const { check, state, text } of findings) {
    process.stdout.write(
      json
        ? `${printableJson({ check, state, text })}\n`
        : `${state.padEnd(5)} ${check.padEnd(14)} ${printable(text)}\n`,
    );
  }
  return findings.some(({ state }) => state === "bad") ? 1 : 0;
}

async function examine(raw: RawEnvironment): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(raw);
    await composePrices(config, { info() {}, error() {} });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split("\n").map((text) => ({ check: "configuration", state: "bad", text }));
  }
  const checked = await Promise.all([
    inTime("database", checkDatabase(config)),
    inTime("upstream", checkUpstreams(config)),
    inTime("judge", checkJudge(config)),
    inTime("provider", checkProvider(config)),
    inTime("redis", checkRedis(config)),
  ]);
  return [...configuration(raw), ...checked.flat()];
}

function versions(): Finding {
  const { platform, arch } = process;
  const text = `Presage ${packageJson.version}, Bun ${Bun.version}, ${platform}-${arch}`;
  return { check: "versions", state: "good", text };
}

function configuration(raw: RawEnvironment): Finding[] {
  const unknown = unknownVariables(raw);
  if (unknown.length === 0)
    return [{ check: "configuration", state: "good", text: "every variable is valid" }];
  return unknown.map((name) => ({
    check: "configuration",
    state: "bad",
    text: `${name} is unknown and has no effect. Unset it, or correct its name`,
  }));
}
