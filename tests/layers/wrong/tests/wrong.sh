#!/bin/sh
# Waits for a time to pass.
sleep 1
