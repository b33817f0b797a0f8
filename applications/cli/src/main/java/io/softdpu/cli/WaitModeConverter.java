package io.softdpu.cli;

import io.softdpu.storage.WaitMode;

/** Parses the way in which data path threads wait. */
final class WaitModeConverter extends WordConverter<WaitMode> {
    /** For picocli. */
    public WaitModeConverter() {
        super(WaitMode.class, WaitMode::optionName, "no such way to wait", "wait");
    }
}
