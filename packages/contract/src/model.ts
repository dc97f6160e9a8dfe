import { z } from "zod";

/** One model of the upstream, in OpenAI's shape. Unknown properties are kept. */
export const Model = z.looseObject({ id: z.string(), object: z.string().optional() }).meta({ id: "Model" });
export type Model = z.infer<typeof Model>;

/** Response of `GET /v1/models`: the upstream's list, unchanged. */
export const ModelListResponse = z
  .looseObject({ object: z.string().optional(), data: z.array(Model) })
  .meta({ id: "ModelListResponse" });
export type ModelListResponse = z.infer<typeof ModelListResponse>;
