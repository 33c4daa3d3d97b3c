package io.escapement.embedded.stub;

/** The word that a step begins with, and what may follow it. */
interface Word {

  String word();

  Argument argument();
}
