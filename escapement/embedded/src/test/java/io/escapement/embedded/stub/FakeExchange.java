package io.escapement.embedded.stub;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpPrincipal;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;

/** An exchange that only knows whether it was closed. */
final class FakeExchange extends HttpExchange {

  boolean closed;

  @Override
  public void close() {
    closed = true;
  }

  @Override
  public Headers getRequestHeaders() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Headers getResponseHeaders() {
    throw new UnsupportedOperationException();
  }

  @Override
  public URI getRequestURI() {
    throw new UnsupportedOperationException();
  }

  @Override
  public String getRequestMethod() {
    throw new UnsupportedOperationException();
  }

  @Override
  public HttpContext getHttpContext() {
    throw new UnsupportedOperationException();
  }

  @Override
  public InputStream getRequestBody() {
    throw new UnsupportedOperationException();
  }

  @Override
  public OutputStream getResponseBody() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void sendResponseHeaders(int status, long length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public InetSocketAddress getRemoteAddress() {
    throw new UnsupportedOperationException();
  }

  @Override
  public int getResponseCode() {
    throw new UnsupportedOperationException();
  }

  @Override
  public InetSocketAddress getLocalAddress() {
    throw new UnsupportedOperationException();
  }

  @Override
  public String getProtocol() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Object getAttribute(String name) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void setAttribute(String name, Object value) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void setStreams(InputStream in, OutputStream out) {
    throw new UnsupportedOperationException();
  }

  @Override
  public HttpPrincipal getPrincipal() {
    throw new UnsupportedOperationException();
  }
}
