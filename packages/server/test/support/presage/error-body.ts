/** The body of an error, without the `error` that only the paths of OpenAI's clients have (`openai-errors.test.ts`). */
export async function errorBody(response: Response): Promise<Record<string, unknown>> {
  const { error: _, ...body } = (await response.json()) as Record<string, unknown>;
  return body;
}
