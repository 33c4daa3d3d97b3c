package io.escapement.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds what a misspelt name was meant to be. */
public final class Suggestion {

  private Suggestion() {}

  /**
   * The known name nearest to a wrong one, if near enough to be worth telling: a third of its
   * letters may differ.
   */
  public static Optional<String> nearest(String wrong, Collection<String> known) {
    int furthest = Math.max(2, wrong.length() / 3);
    return known.stream()
        .map(name -> new Candidate(name, distance(wrong, name)))
        .filter(candidate -> candidate.distance() <= furthest)
        .min(Comparator.comparingInt(Candidate::distance).thenComparing(Candidate::name))
        .map(Candidate::name);
  }

  /** The words to put behind a complaint: empty if nothing is near. */
  public static String didYouMean(String wrong, Collection<String> known) {
    return nearest(wrong, known).map(name -> "; did you mean " + name + "?").orElse("");
  }

  private record Candidate(String name, int distance) {}

  /** Letters to insert, delete, replace or swap with their neighbour. */
  static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      d[i][0] = i;
    }
    for (int j = 0; j <= b.length(); j++) {
      d[0][j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      for (int j = 1; j <= b.length(); j++) {
        int replace = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        d[i][j] = Math.min(replace, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
