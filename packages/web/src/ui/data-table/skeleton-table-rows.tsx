import { Skeleton } from "../skeleton.tsx";

/** As high as the rows that are to come, so that nothing moves. */
export function SkeletonTableRows({ count, columnCount }: { count: number; columnCount: number }) {
  return (
    // Fades in late, so that a fast response causes no flicker.
    <tbody className="transition-opacity delay-150 starting:opacity-0">
      {Array.from({ length: count }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <tr key={row}>
          {Array.from({ length: columnCount }, (_, column) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
            <td key={column} className="h-10 border-b border-line px-3 py-1.5 first:pl-4 last:pr-4">
              {row === 0 && column === 0 && <span className="sr-only">Loading</span>}
              <Skeleton className="h-3 w-3/4" />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
