const formats = [
  {
    name: "Presage’s own",
    line: '{"trajectory_id": "kitchen-1", "step": 0, "interaction": {"state": "…", "action": "…"}, "next_state": "…"}',
    use: "One transition a line.",
  },
  {
    name: "Conversations",
    line: '{"id": "walk-1", "messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]}',
    use: "Word2World, AgentGym: each assistant turn after a user turn is a next state.",
  },
  {
    name: "LLM-Sim",
    line: '{"game": "…", "state_id": 0, "current_state": {…}, "action_state": {…}, "tick_state": {…}}',
    use: "From the current to the tick state; a game is a trajectory.",
  },
  {
    name: "Predictions made elsewhere",
    line: '{"index": 0, "prediction_raw": "…", "reference": "…"}',
    use: "mdlm_world_modeling: the references become the dataset.",
  },
] as const;

/** The formats that the server knows; the fields of the first line tell which one it is. */
export function FormatList() {
  return (
    <details className="group text-sm" open>
      <summary className="cursor-pointer text-xs font-medium text-ink-2">
        Formats: the fields of the first line tell which it is
      </summary>
      <dl className="mt-2 flex flex-col gap-2 text-xs">
        {formats.map(({ name, line, use }) => (
          <div key={name} className="rounded-md border border-line px-3 py-2">
            <dt className="font-medium">
              {name} <span className="font-normal text-ink-3">{use}</span>
            </dt>
            <dd>
              <code className="block font-mono wrap-anywhere text-ink-2">{line}</code>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
