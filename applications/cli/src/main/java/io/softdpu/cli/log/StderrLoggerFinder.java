package io.softdpu.cli.log;

/**
 * Creates each {@link System.Logger} of the program; found by the platform through ServiceLoader.
 */
public final class StderrLoggerFinder extends System.LoggerFinder {
    /** For ServiceLoader. */
    public StderrLoggerFinder() {}

    @Override
    public System.Logger getLogger(String name, Module module) {
        return new StderrLogger(name);
    }
}
