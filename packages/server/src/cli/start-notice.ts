import { commandName } from "../platform/words.ts";

export interface StartNotice {
  version: string;
  /** Where browsers reach the server. */
  publicUrl: string;
  /** The one-time sign-in link of local mode. */
  signInAddress: string | undefined;
  /** The owner's first key, if this start created it. */
  firstKey: string | undefined;
}

/** What a person needs to begin, as one block that stands out from the log. */
export function startNotice({ version, publicUrl, signInAddress, firstKey }: StartNotice): string {
  const rows = [
    ...(signInAddress === undefined
      ? [["Dashboard", `${publicUrl}/`]]
      : [
          ["Dashboard", "This link signs in one browser, once, within 12 hours:"],
          // At the margin it fits 80 columns, so that it can be copied.
          [signInAddress, ""],
          ["", `${commandName} sign-in prints another.`],
        ]),
    ["API", `${publicUrl}/v1`],
    ...(firstKey === undefined
      ? []
      : [
          ["API key", firstKey],
          ["", `It is shown only once. ${commandName} keys create makes another.`],
        ]),
  ];
  const lines = [
    `Presage ${version} is ready`,
    "",
    ...rows.map(([name = "", value]) => `${name.padEnd(11)}${value}`.trimEnd()),
    ...(firstKey === undefined
      ? []
      : ["", "A first prediction:", "", ...firstPrediction(publicUrl, firstKey)]),
  ];
  return `\n${lines.map((line) => (line === "" ? "" : `  ${line}`)).join("\n")}\n\n`;
}

/** In lines of at most 80 columns that a shell takes as one command. */
function firstPrediction(publicUrl: string, key: string): string[] {
  return [
    `curl ${publicUrl}/v1/predict \\`,
    `  -H 'X-API-KEY: ${key}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"interaction": {`,
    `        "state": "You are in the kitchen. The fridge is closed.",`,
    `        "action": "open fridge"}}'`,
  ];
}
