package io.softdpu.cli.card;

import io.softdpu.core.capability.Capabilities;
import java.util.Iterator;

/** Names of the libraries that softdpu has, for completion. */
public final class LibraryNames implements Iterable<String> {
    /** For picocli. */
    public LibraryNames() {}

    @Override
    public Iterator<String> iterator() {
        return Capabilities.libraries().iterator();
    }
}
