import { ServiceError } from "../../errors.ts";

export function noSuchProfile(): ServiceError {
  return new ServiceError("not_found", "There is no such evaluator profile.");
}
