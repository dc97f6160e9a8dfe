import { z } from "zod";

/** One model of the upstream, in OpenAI's shape. Unknown properties are kept. */
export const Model = z
  .looseObject({
    id: z.string().meta({ description: "The model's name, as requests send it." }),
    object: z.string().optional().meta({ description: "`model`." }),
  })
  .meta({ id: "Model" });
export type Model = z.infer<typeof Model>;

/** Path parameters of one model. */
export const ModelPath = z.object({
  id: z.string().meta({
    description: "A model's id. Its slashes need not be encoded.",
    examples: ["presage-sandbox"],
  }),
});

/** Response of `GET /v1/models`: the upstream's list, unchanged. */
export const ModelListResponse = z
  .looseObject({
    object: z.string().optional().meta({ description: "`list`." }),
    data: z.array(Model).meta({ description: "The models." }),
  })
  .meta({ id: "ModelListResponse" });
export type ModelListResponse = z.infer<typeof ModelListResponse>;
