/** The keys of `useStepKeys`, where there is a keyboard and somewhere to go. */
export function StepKeysHint({ count }: { count: number }) {
  if (count < 2) return null;
  return (
    <span className="max-sm:hidden">
      {" "}
      · <kbd className="font-mono text-xs">J</kbd> and <kbd className="font-mono text-xs">K</kbd> go through
      them
    </span>
  );
}
