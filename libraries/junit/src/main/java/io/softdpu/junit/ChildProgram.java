package io.softdpu.junit;

import java.io.Serializable;

/**
 * Program that a test runs in another process: a reference to a static method of the test, or a
 * lambda whose captured variables are serializable.
 */
@FunctionalInterface
public interface ChildProgram extends Serializable {
    /**
     * Runs in the other process, which ends as after a main method, with exit code 0. An exception,
     * an object that is left open and a mistake that the sanitizer has found are printed to
     * standard error, and the exit code is 1.
     *
     * @param card of the other process: the same fabric folders, topology and seed as in the test
     * @throws Exception fails the process
     */
    void run(SoftDpu card) throws Exception;
}
