import type {
  EvaluatorProfileCreateRequest,
  EvaluatorProfileRevisionRequest,
  ValidationError,
} from "@presage/contract";
import { ServiceError } from "../../../errors.ts";
import type { Family } from "../../../evaluation/evaluators/family.ts";
import {
  type CheckedConfig,
  type CheckInThread,
  checkConfig,
} from "../../../evaluation/profiles/check-config.ts";
import { systemPrefix } from "../../../evaluation/profiles/system-profiles.ts";
import { type FamilyFields, readFamily } from "../../request/deprecations.ts";
import { nameNarrowType, toFaults } from "../../request/pydantic-faults.ts";
import { ValidationFailure } from "../../request/validation.ts";

/** Finds a family by its own name, or by one of its evaluators. */
export type FindFamily = (name: string) => Family | undefined;

/** What the schema of a new profile cannot say: its family exists and takes its config, and its name may be had. */
export async function readNewConfig(
  body: EvaluatorProfileCreateRequest,
  findFamily: FindFamily,
  checkInThread: CheckInThread,
): Promise<CheckedConfig> {
  const named = readFamily(body);
  const family = named && findFamily(named.name);
  const config = family === undefined ? [] : await readConfig(family, body, checkInThread);
  return accept(config, [
    ...(family === undefined
      ? [wrong(named?.field ?? "evaluator_family", "There is no such family", named?.name ?? "")]
      : []),
    ...(body.name.startsWith(systemPrefix)
      ? [wrong("name", `Names that begin with ${systemPrefix} are Presage's own`, body.name)]
      : []),
  ]);
}

/** What the schema of a revision cannot say: the profile's family takes its config, and no other family is named. */
export async function readRevisedConfig(
  body: EvaluatorProfileRevisionRequest,
  familyName: string,
  findFamily: FindFamily,
  checkInThread: CheckInThread,
): Promise<CheckedConfig> {
  const family = findFamily(familyName);
  if (family === undefined) {
    throw new ServiceError("conflict", `This version of Presage has no family ${familyName} any more.`);
  }
  return accept(
    await readConfig(family, body, checkInThread),
    faultsOfOtherFamily(body, familyName, findFamily),
  );
}

/** What the schema of a request about a profile cannot say: it names no other family than the profile's. */
export function refuseOtherFamily(body: FamilyFields, familyName: string, findFamily: FindFamily): void {
  const faults = faultsOfOtherFamily(body, familyName, findFamily);
  if (faults.length > 0) throw new ValidationFailure(faults);
}

function faultsOfOtherFamily(
  body: FamilyFields,
  familyName: string,
  findFamily: FindFamily,
): ValidationError[] {
  const named = readFamily(body);
  if (named === undefined || (findFamily(named.name)?.name ?? named.name) === familyName) return [];
  return [wrong(named.field, `The profile belongs to the family ${familyName}`, named.name)];
}

function accept(config: CheckedConfig | ValidationError[], faults: ValidationError[]): CheckedConfig {
  if (Array.isArray(config)) throw new ValidationFailure([...faults, ...config]);
  if (faults.length > 0) throw new ValidationFailure(faults);
  return config;
}

async function readConfig(
  family: Family,
  body: { config: Record<string, unknown> },
  checkInThread: CheckInThread,
): Promise<CheckedConfig | ValidationError[]> {
  const config = await checkConfig(family, body.config, nameNarrowType, checkInThread);
  if (!("issues" in config)) return config;
  const issues = config.issues.map((issue) => ({ ...issue, path: ["config", ...issue.path] }));
  return toFaults(issues, body, "body");
}

function wrong(field: string, message: string, input: string): ValidationError {
  return {
    type: "value_error",
    loc: ["body", field],
    msg: `Value error, ${message}`,
    input,
    ctx: { error: message },
  };
}
