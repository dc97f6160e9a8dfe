import { EnvironmentPath } from "@presage/contract";
import type { ZodOpenApiOperationObject, ZodOpenApiResponsesObject } from "zod-openapi";
import { errorResponse, noSuch, operation } from "../../http/describe.ts";

const key =
  "The key may also be the password of Basic authentication, which it becomes in `http://any:KEY@HOST/…`. Sessions and web pages are not let in.";
const failures = {
  "403": errorResponse("The request has an `Origin`", "Web pages may not call this address."),
  ...noSuch("environment"),
} satisfies ZodOpenApiResponsesObject;

interface Described extends Pick<ZodOpenApiOperationObject, "requestParams" | "requestBody"> {
  description: string;
  responses: ZodOpenApiResponsesObject;
}

/** An operation of OpenEnv's clients, which have a way of their own to send the key. */
export function describeOpenEnv(
  operationId: string,
  summary: string,
  { description, responses, ...rest }: Described,
): ZodOpenApiOperationObject {
  return {
    ...operation(operationId, "OpenEnv", summary, {
      description: `${description} ${key}`,
      requestParams: { path: EnvironmentPath },
      ...rest,
      responses: { ...responses, ...failures },
    }),
    security: [{ apiKey: [] }, { bearer: [] }, { basic: [] }],
  };
}
