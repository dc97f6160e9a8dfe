import { expect } from "bun:test";
import { HTTPValidationError, type ValidationError } from "@presage/contract";

/** What a 422 names. */
export async function issuesOf(response: Response): Promise<ValidationError[]> {
  expect(response.status).toBe(422);
  return HTTPValidationError.parse(await response.json()).detail;
}

/** Faults without their texts. */
export function locationsOf(faults: ValidationError[]): Pick<ValidationError, "type" | "loc">[] {
  return faults.map(({ type, loc }) => ({ type, loc }));
}
