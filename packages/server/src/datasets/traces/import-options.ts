import { createHash } from "node:crypto";
import type { DatasetFormat, ImportPreviewQuery } from "@presage/contract";
import { InvalidRequestError, valueError } from "../../http/validate.ts";
import { sha256Hex } from "../../platform/words.ts";
import type { ReadSample } from "../formats.ts";
import { LineError } from "../upload/lines.ts";
import { type Redaction, type RedactRules, readRedactRules } from "./redaction/redact.ts";
import type { StepOptions } from "./turns.ts";

export interface ImportOptions extends StepOptions {
  /** Undefined: recognised by each file's contents. */
  format: DatasetFormat | undefined;
  assistantIs: "agent" | "environment" | undefined;
  /** The name of the score that is the reward. */
  score: string | undefined;
  /** Undefined: depends on the layout. */
  redaction: Redaction | undefined;
  /** Additional rules for what to redact. */
  rules?: RedactRules;
  skipsFaults: boolean;
  split: Split | undefined;
}

/** The shares of the groups of samples for testing and for calibration. The rest is for training. */
interface Split {
  /** `trajectory`, `task` or `tag:NAME`. */
  by: string;
  test: number;
  calibration: number;
}

const defaultTest = 0.2;
/** As many as a line may have. */
const maxTags = 50;

/** The import options of a request. Throws an `InvalidRequestError` if its rules are not valid. */
export function readImport(query: ImportPreviewQuery) {
  const { source, ...given } = query;
  const { format, assistant_is, step, keep, score, redact, redact_rules, on_fault } = query;
  // Rules may contain secrets, and anyone who reads the dataset sees its options.
  if (redact_rules) given.redact_rules = `sha256:${sha256Hex(redact_rules)}`;
  return {
    source,
    given: Object.fromEntries(Object.entries(given).flatMap(([name, text]) => (text ? [[name, text]] : []))),
    options: {
      format: format === "auto" ? undefined : format,
      assistantIs: assistant_is,
      score,
      ...(redact_rules === undefined
        ? { redaction: redact }
        : { redaction: redact ?? "default", rules: readRules(redact_rules, redact) }),
      skipsFaults: on_fault === "skip",
      step: step ?? "call",
      keepsThoughts: keep === "thoughts",
      split: readSplit(query),
    } satisfies ImportOptions,
  };
}

function readRules(text: string, redact: Redaction | undefined): RedactRules {
  try {
    if (redact === "none") throw new Error("with redact=none nothing is redacted; leave one of them out");
    return readRedactRules(text);
  } catch (error) {
    throw new InvalidRequestError([valueError(["query", "redact_rules"], (error as Error).message)]);
  }
}

/** For uploads whose lines Presage itself wrote. */
export const ownLines = {
  ...readImport({ format: "presage" }),
  given: {},
  contentType: undefined,
  isGzip: false,
};

/** Undefined if no split is wanted. */
function readSplit({ split_by, test, calibration }: ImportPreviewQuery): Split | undefined {
  const given = test === undefined ? "calibration" : "test";
  if (split_by === undefined) {
    if (test === undefined && calibration === undefined) return undefined;
    throw new InvalidRequestError([valueError(["query", given], "It needs `split_by`")]);
  }
  const split = { by: split_by, test: Number(test ?? defaultTest), calibration: Number(calibration ?? 0) };
  if (split.test + split.calibration <= 1) return split;
  throw new InvalidRequestError([valueError(["query", given], "The shares are more than 1 together")]);
}

/**
 * The sample, tagged with its side if there is a split. `salt` makes splits differ between datasets; undefined if the dataset, and so
 * the side, is not known yet.
 */
export function inItsSplit(
  sample: ReadSample,
  split: Split | undefined,
  salt: string | undefined,
): ReadSample {
  if (split === undefined) return sample;
  const { split: _, ...others } = sample.tags ?? {};
  if (Object.keys(others).length >= maxTags)
    throw new LineError(`With the tag \`split\` it has more than ${maxTags} tags`, ["tags"]);
  return salt === undefined
    ? sample
    : { ...sample, tags: { ...sample.tags, split: splitOf(sample, split, salt) } };
}

/** A sample's side, chosen by a hash of its group's name, so that a later upload gets the same one. */
function splitOf(sample: ReadSample, { by, test, calibration }: Split, salt: string): string {
  const named = by.startsWith("tag:") ? sample.tags?.[by.slice("tag:".length)] : undefined;
  const task = by === "task" ? (sample.tags?.task ?? sample.context?.task_context) : undefined;
  const group = named ?? task ?? sample.trajectory_id;
  const hash = createHash("sha256").update(`${salt}\n${group}`).digest();
  const place = hash.readUInt32BE() / 2 ** 32;
  if (place < test) return "test";
  return place < test + calibration ? "calibration" : "train";
}
