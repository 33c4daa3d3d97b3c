package io.escapement.ledger;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.Base64;

/** A job and the database that it is about, as one line. */
record ChildRequest(String url, ChildJob job) implements Serializable {

  String encode() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(this);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  static ChildRequest decode(String line) throws IOException, ClassNotFoundException {
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(line)))) {
      return (ChildRequest) in.readObject();
    }
  }
}
