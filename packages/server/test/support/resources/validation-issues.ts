import { expect } from "bun:test";
import { HTTPValidationError, type ValidationError } from "@presage/contract";

/** The issues of a 422. */
export async function issuesOf(response: Response): Promise<ValidationError[]> {
  expect(response.status).toBe(422);
  return HTTPValidationError.parse(await response.json()).detail;
}

/** Issues without their texts. */
export function locationsOf(issues: ValidationError[]): Pick<ValidationError, "type" | "loc">[] {
  return issues.map(({ type, loc }) => ({ type, loc }));
}
